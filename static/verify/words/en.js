/*
 * Every text of the checking page: English. docs/translating.md says how to write one.
 *
 * Plain data, as in static/respond/words/. Nothing here promises more than a count of runs can
 * show.
 */

export default {
  title: "Check the randomizer",
  lead:
    "This page runs the program that protects your answers, many times, here in your browser. " +
    "It counts what comes out and compares that with what was promised.",
  example: "Checked here: an example with one question, and one with two questions together.",
  survey: "Checked here: the survey “{title}”.",
  exampleQuestion: "Example question {number}",
  yes: "Yes",
  no: "No",

  run: "Run {count} times",
  stop: "Stop",
  nothingSent: "While it runs, nothing is sent anywhere. It uses made-up answers, never yours.",
  progress: "{done} of {all} runs",
  stopped: "Stopped. Only a whole check counts, so nothing is said here.",

  fitsAll: "It does what was promised, as far as {count} runs can show.",
  fitsNot: "Something does not fit what was promised.",
  details: "Show what was counted",
  back: "Back to the survey",
  runAgain:
    "Chance alone does this in at most 1 of {checks} checks, and seldom twice, so run it " +
    "again. If it does not fit again, do not answer surveys here, and tell the people who " +
    "asked you to.",
  block: { one: "A question on its own", other: "{count} questions, protected together" },
  together: "How many of these parts came out as they were put in",
  fits: "Fits the promise",
  misfits: "Does not fit the promise",
  putIn: "Put in: {answers}",
  asPutIn: "As it was put in",
  otherwise: "Something else",
  nothing: "nothing",
  notAsked: "not asked",
  key: "Bars and first figures show what came out. Lines and second figures were promised.",
  decided: "Chi-square test of these pictures together: {p}. Below {limit}, it would not fit.",
  largest: "Largest difference: {deviation} standard errors. This picture alone: {p}.",
  numbers: "The same as a table",
  report: "Report",
  counted: "Counted",
  promised: "Promised",
  difference: "Standard errors apart",
  loss:
    "Privacy loss ε: promised at most {promised}. Seen in these runs: at least {seen}, with " +
    "95% confidence.",

  limitsTitle: "What this can find, and what it cannot",
  sharpness:
    "Say that chance leaves more answers alone than promised. If it is {shift} more in 100 " +
    "answers, this check notices in 99 of 100 tries.",
  slightly: "If it is 1 more in 100, it notices in about {often} of 100.",
  limits:
    "It will often miss a smaller fault. It cannot find one that shows only with other answers, " +
    "on other devices or at other times. And no number of runs can prove that all is well.",

  filesTitle: "The files of this site",
  files:
    "The site has a list of its files. Your browser has worked out the fingerprint (SHA-256) " +
    "of each file that it got. Compare them with those that somebody you trust has published.",
  stronger:
    "A dishonest site could also send a dishonest checking page, so the stronger check is " +
    "docs/monitor.py, run by somebody else, somewhere else.",
  filesAgree: {
    one: "The file agrees with the list",
    other: "All {count} files agree with the list",
  },
  filesDiffer: { one: "{count} file does not agree", other: "{count} files do not agree" },
  fileList: "Show what this means, and the fingerprints",
  agrees: "Agrees with the list",
  differs: "Differs from the list",
  notLoaded: "Could not be loaded",
  insecure:
    "Nothing was compared: on an address without https, this browser does not work out " +
    "fingerprints. What follows is only what the site says itself.",
  noList: "The list of files could not be loaded, so nothing can be compared.",
  copy: "Copy the fingerprints",
  copied: "Copied.",

  missing: "There is no survey with this address. A letter may be missing, or it is not open yet.",
  offline: "The survey could not be loaded. Check your connection and load the page again.",
  outdated: "This page cannot check this survey. Load the page again.",
  refused: "The randomizer stopped. It says: {error}",
};
