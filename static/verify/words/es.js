/*
 * Every text of the checking page: Spanish. docs/translating.md says how to write one.
 *
 * Plain data, as in static/respond/words/. Nothing here promises more than a count of runs can
 * show.
 */

export default {
  title: "Comprobar el programa del azar",
  lead:
    "Esta página ejecuta muchas veces, aquí en su navegador, el programa que protege sus " +
    "respuestas. Cuenta lo que sale y lo compara con lo prometido.",
  example: "Se comprueba aquí: un ejemplo con una pregunta y otro con dos preguntas juntas.",
  survey: "Se comprueba aquí: la encuesta «{title}».",
  exampleQuestion: "Pregunta de ejemplo {number}",
  yes: "Sí",
  no: "No",

  run: {
    one: "Ejecutar {count} vez",
    many: "Ejecutar {count} de veces",
    other: "Ejecutar {count} veces",
  },
  stop: "Detener",
  nothingSent:
    "Mientras se ejecuta, no se envía nada a ninguna parte. Usa respuestas inventadas, nunca " +
    "las de usted.",
  progress: "Ejecuciones: {done} de {all}",
  stopped: "Detenido. Solo vale una comprobación completa, así que aquí no hay resultado.",

  fitsAll: {
    one: "Hace lo prometido, hasta donde puede mostrarlo {count} ejecución.",
    many: "Hace lo prometido, hasta donde pueden mostrarlo {count} de ejecuciones.",
    other: "Hace lo prometido, hasta donde pueden mostrarlo {count} ejecuciones.",
  },
  fitsNot: "Algo no encaja con lo prometido.",
  details: "Mostrar lo que se contó",
  back: "Volver a la encuesta",
  runAgain:
    "El azar por sí solo produce esto como máximo en 1 de cada {checks} comprobaciones, y rara " +
    "vez dos veces. Por eso, repita la comprobación. Si tampoco entonces encaja, no responda " +
    "encuestas aquí y avise a quienes se lo pidieron.",
  block: {
    one: "Una pregunta por separado",
    many: "{count} de preguntas, protegidas juntas",
    other: "{count} preguntas, protegidas juntas",
  },
  together: "Cuántas de estas partes salieron tal como entraron",
  fits: "Encaja con lo prometido",
  misfits: "No encaja con lo prometido",
  putIn: "Entró: {answers}",
  asPutIn: "Tal como entró",
  otherwise: "Otra cosa",
  nothing: "nada",
  notAsked: "no se preguntó",
  key:
    "Las barras y las primeras cifras muestran lo que salió. Las líneas y las segundas cifras " +
    "muestran lo prometido.",
  decided: "Prueba de ji cuadrado de estas figuras juntas: {p}. Por debajo de {limit}, no encajaría.",
  largest: "Mayor diferencia, en errores estándar: {deviation}. Esta figura sola: {p}.",
  numbers: "Lo mismo en una tabla",
  report: "Informe",
  counted: "Contados",
  promised: "Prometidos",
  difference: "Diferencia en errores estándar",
  loss:
    "Pérdida de privacidad ε: prometida, como máximo {promised}. Vista en estas ejecuciones: " +
    "al menos {seen}, con una confianza del 95 %.",

  limitsTitle: "Qué puede encontrar esta comprobación y qué no",
  sharpness:
    "Supongamos que el azar deja sin cambiar más respuestas de lo prometido. Si son {shift} más " +
    "de cada 100 respuestas, esta comprobación lo nota 99 veces de cada 100.",
  slightly: "Si es 1 más de cada 100, lo nota unas {often} veces de cada 100.",
  limits:
    "A menudo se le escapa un fallo menor. Tampoco puede encontrar uno que aparezca solo con " +
    "otras respuestas, en otros dispositivos o en otros momentos. Y ningún número de ejecuciones " +
    "puede probar que todo está bien.",

  filesTitle: "Los archivos de este sitio",
  files:
    "El sitio tiene una lista de sus archivos. Su navegador ha calculado el código (SHA-256) " +
    "que identifica cada archivo que recibió. Compare estos códigos con los que haya publicado " +
    "alguien de su confianza.",
  stronger:
    "Un sitio poco honrado también podría enviar una página de comprobación poco honrada. Por " +
    "eso vale más la comprobación con docs/monitor.py, hecha por otra persona, en otro lugar.",
  filesAgree: {
    one: "El archivo coincide con la lista",
    many: "Los {count} de archivos coinciden con la lista",
    other: "Los {count} archivos coinciden con la lista",
  },
  filesDiffer: {
    one: "{count} archivo no coincide",
    many: "{count} de archivos no coinciden",
    other: "{count} archivos no coinciden",
  },
  fileList: "Mostrar qué significa esto y los códigos",
  agrees: "Coincide con la lista",
  differs: "No coincide con la lista",
  notLoaded: "No se pudo cargar",
  insecure:
    "No se ha comparado nada: en una dirección sin https, este navegador no calcula los " +
    "códigos. Lo que sigue es solo lo que dice el propio sitio.",
  noList: "No se pudo cargar la lista de archivos, así que no se puede comparar nada.",
  copy: "Copiar los códigos",
  copied: "Copiado.",

  missing:
    "No hay ninguna encuesta con esta dirección. Puede faltar una letra, o puede que aún no " +
    "esté abierta.",
  offline: "No se pudo cargar la encuesta. Revise la conexión y vuelva a cargar la página.",
  outdated: "Esta página no puede comprobar esta encuesta. Vuelva a cargar la página.",
  refused: "El programa del azar se detuvo. Dice: {error}",
};
