/*
 * The survey's own texts in the reader's language, as far as they were translated.
 *
 * Pure. Every text comes with the language that it is in, so that a page can mark it up for screen
 * readers and say openly where a translation is missing. A text in de-AT serves a reader of de.
 */

/* {title, introduction, question(step)}; each text is {text, lang}. */
export function contentIn(tag, survey) {
  const { design } = survey;
  const own = serves(survey.language, tag) ? tag : survey.language;
  const told = find(survey.translations, tag);
  const asked = find(design.translations, tag);
  const pick = (translated, original) =>
    own === tag || translated === undefined
      ? { text: original, lang: own }
      : { text: translated, lang: tag };
  return {
    title: pick(told?.title, survey.title),
    introduction: pick(told?.introduction, survey.introduction),
    question({ question, clear }) {
      const translated = asked?.[clear ? "strata" : "questions"]?.[question.key];
      return {
        ...pick(translated?.text, question.text),
        options: question.options.map(({ text }, i) => pick(translated?.options?.[i], text)),
      };
    },
  };
}

function serves(language, tag) {
  return language === tag || language.split("-")[0] === tag;
}

function find(translations = {}, tag) {
  return translations[tag] ?? translations[Object.keys(translations).find((one) => serves(one, tag))];
}
