/*
 * Every text of the respondent's page: Spanish. docs/translating.md says how to write one.
 *
 * Plain data: {names} in braces are filled in by words.js, and an object whose keys are plural
 * categories is chosen by its {count}.
 */

export default {
  direction: "ltr",

  title: "Encuesta",
  language: "Idioma",
  loading: "Cargando la encuesta…",
  untranslated:
    "La encuesta no está traducida por completo: partes de esta página están en {language}.",
  testing: "Prueba. No se guarda nada de lo que responda aquí.",
  yes: "Sí",
  no: "No",

  share: {
    above: "más de {count}",
    below: "menos de {count}",
    about: "unas {count}",
    atMost: "como máximo unos {count}",
    range: "{least} a {most}",
  },

  opening: {
    all: { one: "{count} pregunta.", many: "{count} de preguntas.", other: "{count} preguntas." },
    some: "Elección al azar entre {all}.",
    depends: "Algunas solo se hacen después de ciertas respuestas.",
    background: {
      one: "Después, {count} pregunta sobre usted.",
      many: "Después, {count} de preguntas sobre usted.",
      other: "Después, {count} preguntas sobre usted.",
    },
    start: "Empezar",
    once: "Por favor, responda una sola vez.",

    who: {
      title: "Quién pregunta y por qué",
      asked_by: "Quién",
      purpose: "Por qué",
      contact: "Contacto",
      kept: "Plazo",
      deleted: {
        one: "Todo se borra {count} día después del cierre de la encuesta.",
        many: "Todo se borra {count} de días después del cierre de la encuesta.",
        other: "Todo se borra {count} días después del cierre de la encuesta.",
      },
    },

    promise: {
      label: "Nadie puede saber con certeza qué respondió usted.",
      who:
        "Ni el equipo de investigación, ni quienes gestionan este sitio, ni un ladrón que " +
        "copie la base de datos, ni un tribunal.",
    },
    weakPromise: {
      label: "La protección de esta encuesta es débil.",
      who:
        "El equipo de investigación, quienes gestionan este sitio, un ladrón que copie la base " +
        "de datos o un tribunal verían solo un informe. Pero quien lo vea entero puede llegar a " +
        "estar casi seguro. Participe solo si también respondería sin protección.",
    },

    before:
      "Supongamos que alguien que le conoce bien ve igual de probable que usted haya dado cierta " +
      "respuesta o que no: 50 de 100.",
    after:
      "Después de ver su informe completo, la seguridad de esa persona puede alcanzar {sure} " +
      "puntos de 100.",
    afterSensitive:
      "Después de ver su informe sin las respuestas sobre usted, la seguridad de esa persona " +
      "puede alcanzar {sure} puntos de 100.",
    aboutYou:
      "Sobre usted: el azar también puede cambiar estas respuestas. En cada una por separado, " +
      "la seguridad de alguien que parte de 50 de 100 puede alcanzar {sure} puntos de 100.",
    weakAboutYou:
      "Sobre usted: el azar también puede cambiar estas respuestas, pero su protección es " +
      "débil. En cada una por separado, la seguridad de alguien que parte de 50 de 100 puede " +
      "alcanzar {sure} puntos de 100. Usted puede elegir no decirlo.",
    filled: "{sure} de 100: la seguridad que puede tener",
    empty: "{doubt} de 100: la duda que le queda",
    picture: "Un cuadrado de 100 círculos. Llenos: {filled}. Vacíos: {empty}.",

    how: {
      title: "Cómo funciona",
      answer: "Usted simplemente responde con la verdad.",
      chance:
        "El azar puede cambiar sus respuestas antes de que salgan de este dispositivo. Solo se " +
        "envía el resultado: su informe.",
      practise: "Probar con una pregunta sencilla",
    },

    fears: {
      known: "¿Pueden saber qué respondí?",
      knownReply:
        "Con certeza, no. Solo ven un informe, y puede haberlo escrito el azar. Un solo " +
        "informe nunca es una prueba.",
      weakKnown: "Es posible. La cifra de arriba dice cuánta seguridad pueden tener.",
      wrong: "¿Podría quedar anotado algo que no elegí?",
      wrongReply:
        "Sí, por azar eso le puede pasar a cualquiera. Por eso un informe no es una prueba " +
        "sobre usted. En el resultado de todo el grupo, el efecto del azar se descuenta.",
      weakWrong:
        "Sí, por azar eso puede pasar. En el resultado de todo el grupo, el efecto del azar " +
        "se descuenta.",
    },

    unprotected: {
      title: "Qué no está protegido",
      part: "Que usted ha participado.",
      partText:
        "Quien vigile su red o este dispositivo, o quien gestione este sitio, puede llegar a ver " +
        "que usted abrió esta página.",
      device: "Lo que alguien vea en este dispositivo.",
      deviceText:
        "Si lo administran otras personas, o si alguien mira la pantalla, pueden ver lo que " +
        "usted elige.",
      belief: "Lo que alguien ya cree sobre usted.",
      beliefText:
        "Las cifras de arriba valen para quien parte de 50 de 100. Quien antes casi no tenía " +
        "dudas puede casi no tenerlas después.",
      others: "Los informes de otros.",
      othersText:
        "Cualquiera que tenga la dirección puede participar, también varias veces. Por eso " +
        "los resultados no están a salvo de quien falsifique informes. Sus propias " +
        "respuestas siguen protegidas.",
      page: "Una página manipulada.",
      pageText:
        "Usted confía en el programa que le envió este sitio. La parte que trabaja con el azar " +
        "es un solo archivo corto que cualquiera puede leer, y este navegador puede ponerlo a " +
        "prueba por usted.",
      read: "Leer ese archivo",
      verify: "Ponerlo a prueba",
    },

    detail: {
      title: "Las probabilidades con más detalle",
      together:
        "Todas sus respuestas juntas: la seguridad de alguien que parte de 50 de 100 puede " +
        "alcanzar {sure} puntos de 100.",
      sensitive:
        "Sin las respuestas sobre usted, o si alguien ya las conoce: {sure} puntos de 100.",
      alone:
        "Una pregunta de elección única, por separado: {kept} de cada 100 respuestas quedan " +
        "tal como se dieron. En lugar de cada una de las demás, el azar pone otra.",
      others:
        "Si sus respuestas están relacionadas entre sí, o si alguien conoce algunas, solo pone " +
        "límite la primera cifra.",
      design:
        "Las preguntas y las probabilidades quedaron fijadas cuando se abrió esta encuesta. " +
        "Este es el código que las identifica. Es el mismo para todas las personas " +
        "encuestadas.",
      page: "Leer todas las preguntas y probabilidades",
    },

    ledger: "Su lista de encuestas",
  },

  practice: {
    progress: "Práctica",
    note: "Aquí no se envía nada ni se guarda nada.",
    question: "¿Le gustan los días de lluvia?",
    given: "Usted eligió «{answer}». El azar lo probó 100 veces:",
    others: "Si alguien elige «{answer}», 100 intentos dan, por ejemplo:",
    tries: "De 100 informes, {yes} dicen «sí» y {no} dicen «no».",
    picture:
      "Un cuadrado de 100 círculos. Llenos: {yes} informes que dicen «sí». Vacíos: {no} que " +
      "dicen «no».",
    yes: "un informe que dice «sí»",
    no: "un informe que dice «no»",
    lesson:
      "Nunca se envía más de un informe. Un «sí» puede venir de cualquiera de las dos " +
      "personas, y un «no» también. Por eso un solo informe nunca es una prueba.",
    weakLesson:
      "Nunca se envía más de un informe, y en esta encuesta la mayoría de las veces muestra lo " +
      "que se eligió.",
    start: "Empezar la encuesta",
  },

  /* Where people are invited: the code, and what it tells of them. */
  invited: {
    text: "Esta encuesta es por invitación. Su código está en el enlace o en la hoja que recibió.",
    asks: "Quién pregunta:",
    label: "Su código o el enlace completo",
    hint: "16 letras y cifras. Los guiones y las minúsculas no importan.",
    next: "Seguir",
    malformed: "No es un código completo. Tiene 16 letras y cifras.",
    mistyped: "Hay una errata en este código. Compárelo letra por letra con su invitación.",
    brokenLink:
      "Este enlace no está completo. Abra o copie otra vez el enlace entero de su invitación, o " +
      "escriba el código que contiene.",
    unknown:
      "El sitio no conoce este código. Compruébelo. Si recibió un recordatorio, use el " +
      "código más reciente.",
    fetching: "Obteniendo su pase…",
    used: {
      title: "Este código ya se usó",
      texts: [
        "Ya se obtuvo un pase con él: en otro dispositivo, en otro navegador o por otra persona.",
        "Si fue usted, vuelva a aquel dispositivo y navegador. Si ya envió allí su informe, " +
          "gracias. Si no, pida un código nuevo a quien le invitó.",
      ],
      contact: "Preguntas a:",
      another: "Escribir otro código",
    },
    known: {
      title: "Lo que revela su invitación",
      can:
        "Cuando pulsa el botón para empezar, su código se cambia por un pase. Pueden saber " +
        "que su invitación se usó para eso.",
      cannot:
        "No pueden relacionarlo con su informe. El sitio firma su pase sin verlo, y el pase " +
        "solo muestra que el informe es de alguien que fue invitado.",
      network:
        "Quien vigile la red de este sitio en ese momento podría adivinarlo por la hora. Nada " +
        "de lo que se guarda una vez contado su informe lo revela.",
      same:
        "Todos los enlaces de esta encuesta terminan en {end}. Si el suyo o el de otra persona " +
        "no termina así, no responda.",
    },
  },

  asking: {
    progress: "Pregunta {at} de {of}",
    aboutYou: "Sobre usted",
    note:
      "El azar puede cambiar su respuesta antes de que salga de este dispositivo. Aquí, {kept} " +
      "de cada 100 respuestas quedan tal como se dieron.",
    choose: "Elija una respuesta…",
    missing: "Para continuar, elija una de las respuestas.",
    back: "Atrás",
    next: "Siguiente",
    done: "Listo",
    rounded:
      "Antes de que su número salga de este dispositivo, el azar lo redondea a uno de {count} " +
      "valores, de {least} a {most}, y también puede cambiar ese valor: {kept} de cada 100 " +
      "veces queda igual.",
    picked:
      "Su dispositivo envía, al azar, una sola opción o ninguna. Aquí, una opción que usted " +
      "marca se envía {picked} de cada 100 veces; una que no marca, {other}.",
    range: "Introduzca un número entero de {least} a {most}.",
    less: "Menos",
    more: "Más",
    picks: "Puede marcar {picks} como máximo, o ninguna.",
    tooMany: "Puede marcar {picks} como máximo. Para marcar otra, quite antes una.",
    none: "Ninguna",
    filler:
      "Una pregunta neutra, para que el tiempo que tarda no revele cuántas preguntas le " +
      "hicieron. Su respuesta no se guarda.",
    fillers: [
      "¿Prefiere el té al café?",
      "¿Prefiere el mar a la montaña?",
      "¿Se levanta temprano los fines de semana?",
      "¿Le gusta cocinar?",
      "¿Prefiere el verano al invierno?",
      "¿Le gusta ver fútbol?",
    ],
  },

  review: {
    progress: "Último paso",
    title: "Revisar y enviar",
    lead:
      "Cuando usted envía, primero actúa el azar sobre sus respuestas. Después, esta página " +
      "las olvida y solo el informe sale de este dispositivo.",
    answers: "El azar puede cambiar estas respuestas",
    aboutYou: "Sobre usted: el azar también puede cambiar estas respuestas",
    change: "Cambiar",
    changeNamed: "Cambiar: {question}",
    send: "Enviar",
  },

  sending: {
    title: "Enviando su informe…",
    text: "Tardará un momento.",
    work: "Este dispositivo hace primero un pequeño cálculo, que frena los informes falsos.",
  },

  waiting: {
    title: "Su informe todavía no ha llegado",
    offline: "Este dispositivo no tiene conexión.",
    busy: "El sitio está muy ocupado en este momento.",
    trouble: "El sitio tiene un problema en este momento.",
    silent: "El sitio no contestó.",
    safe: "No se ha perdido nada. El azar ya ha actuado, y se volverá a enviar el mismo informe.",
    kept:
      "Solo el informe espera en este dispositivo. Se enviará por sí solo cuando vuelva la " +
      "conexión. Puede cerrar esta página. En ese caso, se enviará cuando abra de nuevo este " +
      "sitio.",
    unkept:
      "Por favor, no cierre esta página. El informe se enviará por sí solo cuando vuelva la " +
      "conexión.",
    again: "Intentar de nuevo ahora",
    drop: "Eliminar el informe en vez de enviarlo",
    see: "Ver lo que se enviará",
  },

  thanks: {
    title: "Gracias. Su informe ha llegado.",
    text: "Ya puede cerrar esta página.",
    once:
      "Por favor, responda una sola vez. Con un segundo informe, usted contaría dos veces y se " +
      "sabría bastante más sobre usted.",
    resumed: "Ha llegado un informe que esperaba en este dispositivo.",
    receipt: "Comprobante",
    receiptText: "Este es el número de su informe. No hace falta que lo guarde.",
    see: "Ver lo que se envió",
  },

  sent: {
    title: "El informe, después del azar",
    text:
      "Estos son los bytes exactos. Los números de «blocks» son lugares en las listas de " +
      "respuestas, o escalones de un número, contando desde 0; null significa que no hay " +
      "respuesta. En cada bloque, todos son sus respuestas o todos son obra del azar.",
    pass: "En «pass» está su pase. Muestra que fue invitado, y no quién es.",
    work: "En «work» está el resultado del cálculo que frena los informes falsos.",
    length: "Con espacios al final, todos los informes de esta encuesta miden lo mismo.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "Usted ya envió su informe",
    text: "Esta encuesta se respondió aquí hace un momento. No tiene que hacer nada más.",
    once: "Con un segundo informe, usted contaría dos veces y se sabría bastante más sobre usted.",
    other: "Otra persona quiere responder",
  },

  kiosk: {
    idle: "¿Sigue usted ahí?",
    idleText:
      "En {count} segundos, esta página olvidará sus respuestas y volverá a empezar.",
    stay: "Sigo aquí",
    waits: "Gracias. Su informe está en camino.",
    waitsText:
      "Solo el informe espera en este dispositivo. Se enviará por sí solo.",
    finish: "Listo",
    finishText: "Esta página vuelve a empezar por sí sola para la siguiente persona.",
  },

  ledger: {
    offer: "¿Quiere llevar una lista de las encuestas en las que participa?",
    offerText:
      "Cada encuesta revela algo sobre usted, y eso se va sumando. Una lista en este dispositivo " +
      "puede llevar la cuenta. Contiene el nombre de la encuesta, el día y la privacidad " +
      "gastada; nunca una respuesta, nunca un informe. Quien pueda abrir este navegador puede " +
      "leerla.",
    keep: "Empezar la lista con esta encuesta",
    added: "Esta encuesta está en su lista.",
    open: "Ver mi lista",
    title: "Su lista de encuestas",
    text:
      "Esta lista está solo en este dispositivo. Nunca se envía. La cifra ε indica cuánta " +
      "privacidad ha gastado una encuesta.",
    survey: "Encuesta",
    day: "Día",
    total: "Total",
    sure:
      "Supongamos que alguien ve todos estos informes y parte de 50 de 100. Si todos tratan de " +
      "una misma respuesta, su seguridad sobre ella puede alcanzar {sure} puntos de 100.",
    empty: "La lista está vacía.",
    remove: "Quitar: {survey}",
    stop: "Borrar la lista y dejar de llevarla",
  },

  /* Pages instead of the survey. `again` is the text of a button that starts over. */
  problems: {
    missing: {
      title: "Aquí no hay ninguna encuesta",
      texts: [
        "Revise la dirección: puede faltar una letra. También puede ser que la encuesta aún no " +
          "esté abierta.",
        "Si recibió la dirección en un mensaje, pregunte a quien se lo envió. No se ha enviado " +
          "nada desde este dispositivo.",
      ],
    },
    closed: {
      title: "Esta encuesta está cerrada",
      texts: [
        "Ya no recibe más informes. Gracias por querer participar.",
        "No se ha enviado nada desde este dispositivo.",
      ],
    },
    offline: {
      title: "No se pudo cargar la encuesta",
      texts: [
        "Puede que su dispositivo no tenga conexión o que el sitio tenga un problema.",
        "No se ha enviado nada. Revise la conexión e inténtelo de nuevo.",
      ],
      again: "Intentar de nuevo",
    },
    outdated: {
      title: "Esta página no puede mostrar esta encuesta",
      texts: [
        "La encuesta no encaja con esta página, o sus probabilidades no son las que indica. " +
          "Por eso la página se detiene aquí. No se ha enviado nada.",
        "Vuelva a cargar la página. Si eso no ayuda, avise a quien le dio la dirección.",
      ],
      again: "Volver a cargar",
    },
    generator: {
      title: "Este navegador no puede proteger sus respuestas",
      texts: [
        "No tiene una fuente segura de azar. Sin ella, esta página no envía nada.",
        "Por favor, use una versión actual de Chrome, Edge, Firefox o Safari.",
      ],
    },
    broken: {
      title: "Algo ha fallado en esta página",
      texts: [
        "La página se ha detenido y ha olvidado sus respuestas.",
        "Si usted no había pulsado «Enviar», no se ha enviado nada y puede volver a empezar.",
      ],
      again: "Volver a empezar",
    },
    changed: {
      title: "El sitio no usó su informe",
      texts: [
        "Dice que la encuesta ya no es la que cargó esta página y que no guardó su informe.",
        "Por favor, no responda de nuevo: con un segundo informe se sabría bastante más sobre " +
          "usted. Avise a quien le dio la dirección.",
      ],
    },
    closedMeanwhile: {
      title: "La encuesta ya no está abierta",
      texts: [
        "Su informe llegó tarde y no se guardó. De este dispositivo no salió nada más que el " +
          "informe.",
        "Gracias por su tiempo.",
      ],
    },
    refused: {
      title: "El sitio no aceptó su informe",
      texts: [
        "El informe no se guardó. De este dispositivo no salió nada más que el informe.",
        "Es un fallo del sitio. Por favor, avise a quien le dio la dirección.",
      ],
    },
    dropped: {
      title: "Se ha eliminado su informe",
      texts: [
        "Ya no se enviará desde este dispositivo.",
        "Si ya había llegado al sitio, allí se queda. Con un segundo informe se sabría " +
          "bastante más sobre usted.",
      ],
    },
    otherDesign: {
      title: "Esta no es la encuesta a la que le invitaron",
      texts: [
        "Su invitación nombra otra versión de esta encuesta que la que muestra el sitio. Eso " +
          "no debería ocurrir nunca, así que la página se detiene aquí. No se envió nada.",
        "Por favor, no responda. Avise a quien le invitó.",
      ],
    },
    noPass: {
      title: "No se pudo obtener su pase",
      texts: [
        "El sitio no respondió o está saturado. Su código no se ha perdido: el mismo pase se " +
          "puede obtener otra vez.",
        "Compruebe su conexión e inténtelo de nuevo.",
      ],
      again: "Intentar de nuevo",
    },
    badPass: {
      title: "El sitio no dio un pase válido",
      texts: [
        "Su firma no es la de esta encuesta. Un pase así podría revelar quién es usted, así " +
          "que la página se detiene aquí. No se envió ninguna respuesta.",
        "Por favor, no responda. Avise a quien le invitó.",
      ],
    },
  },
};
