/*
 * Every text of the respondent's page: English. docs/translating.md says how to write one.
 *
 * Plain data: {names} in braces are filled in by words.js, and an object whose keys are plural
 * categories is chosen by its {count}.
 */

export default {
  direction: "ltr",

  title: "Survey",
  language: "Language",
  loading: "Loading the survey …",
  untranslated: "Parts of this page are in {language}.",
  testing: "Test. Nothing that you answer here is kept.",
  yes: "Yes",
  no: "No",

  share: {
    above: "more than {count}",
    below: "fewer than {count}",
    about: "about {count}",
    atMost: "at most {count}",
    range: "{least} to {most}",
  },

  opening: {
    who: "Who is asking:",
    more: "Read more",
    all: { one: "{count} question", other: "{count} questions" },
    quick: "{questions}, under a minute.",
    longer: "{questions}, under {minutes} min.",
    once: "Please answer only once.",
    reloaded: "This page was reloaded. Answers are never kept, so please answer again.",
    promise: "Your device sometimes changes your answers at random before sending them.",
    so:
      "So nobody who sees what you send can be sure what you answered. Not the people asking, not " +
      "us, not a court.",
    hardly: "They can hardly tell.",
    guess: "They can guess, but not be sure.",
    nearly:
      "But the protection is weak: they could be right {sure} times in 100. Take part only if " +
      "you would also answer without it.",
    less: "Answers about you are less protected: {sure} in 100.",
    managed: "If someone else manages this device, they may see what you tap.",
    invited: "They can see that your invitation was used, but not which report is yours.",
    start: "Start",
    how: "See how it works (10 seconds)",
  },

  odds: {
    title: "How sure could someone be?",
    short: "{sure} in 100",
    say:
      "Say someone thinks it is 50:50 that you gave a certain answer. After seeing your report, " +
      "they would be right this often:",
    answers: "What you answered",
    you: "Each answer about you",
    together: "Everything, if your answers are related",
    times: "{sure} times in 100",
    either: "A yes can come from either",
    ofYes: "100 people whose answer is yes: {yes} send yes, {no} send no.",
    ofNo: "100 people whose answer is no: {yes} send yes, {no} send no.",
    filled: "sends yes",
    empty: "sends no",
    changed: "changed at random",
    wrong:
      "Could your report say something that you did not choose? Yes, anyone’s could, so it is no " +
      "proof. The group’s results are corrected for this.",
  },

  practice: {
    note: "Practice. Nothing is sent.",
    question: "Do you like rainy days?",
    said: "You said: {answer}. This time your device would send: {report}.",
    again: "Again",
    tally: "So far: {yes} × yes, {no} × no.",
  },

  unprotected: {
    title: "What is not protected",
    part: "That you take part. Your network and this site may see that you opened this page.",
    belief: "What someone already believes about you.",
    others: "The results, if people send false reports. Your answers stay protected.",
    page: "Your answers, if someone has tampered with this page. You can check it.",
    invited:
      "That your invitation was used. The site signs your pass without seeing it, so only the " +
      "time could connect it with your report.",
  },

  contact: {
    title: "Contact and deletion",
    asked_by: "Who",
    purpose: "Why",
    contact: "Contact",
    kept: "Deletion",
    deleted: {
      one: "{count} day after the survey closes",
      other: "{count} days after the survey closes",
    },
  },

  check: {
    title: "Check this page",
    text: "One short file changes your answers at random. You can read or test it.",
    read: "Read the file",
    verify: "Test it",
    design: "The digital fingerprint of questions and odds is the same for everyone:",
    page: "Read the whole design",
    same: "All links to this survey end with {end}. If yours does not, do not answer.",
  },

  /* Where people are invited. */
  invited: {
    text: "This survey is by invitation. Your code is in the link or on the sheet that you got.",
    label: "Your code, or the whole link",
    hint: "16 letters and digits. Hyphens and small letters do not matter.",
    next: "Go on",
    malformed: "This is not a whole code.",
    unknown: "The site does not know this code. If you got a reminder, use the newest code.",
    fetching: "Fetching your pass …",
    mistyped:
      "There is a typing mistake in this code. Compare it with your invitation.",
    brokenLink: "This link is not complete. Copy it again, or type the code.",
    used: "This code has been used",
    elsewhere:
      "If you used it on another device or browser, go on there. Otherwise ask the " +
      "person who invited you for a new code.",
    another: "Type another code",
  },

  asking: {
    progress: "Question {at} of {of}",
    kept: "Protected: {kept} in 100 stay as given.",
    how: "How?",
    replaced:
      "Your device replaces some answers at random. Nobody else knows which, so a report is no " +
      "proof.",
    roundedKept: "Protected: rounded, then {kept} in 100 stay.",
    rounded:
      "Your device rounds your number at random to one of {count} values from {least} to {most}, " +
      "and replaces some values at random.",
    picked: "Protected: what you pick is sent {picked} times in 100, anything else {other}.",
    one: "Your device sends only one option or none, at random.",
    filler: "Not kept. This neutral question hides how many others you were asked.",
    missing: "Please choose an answer.",
    back: "Back",
    next: "Next",
    skip: "Skip",
    done: "Done",
    range: "Please enter a whole number from {least} to {most}.",
    less: "Less",
    more: "More",
    picks: "Pick up to {picks}, or none.",
    none: "None",
    fillers: [
      "Do you prefer tea to coffee?",
      "Do you prefer the sea to the mountains?",
      "Do you get up early at weekends?",
    ],
  },

  review: {
    title: "Check and send",
    lead: "Your device now scrambles your answers, forgets them and sends one report.",
    change: "Change",
    send: "Send",
  },

  sending: {
    title: "Sending your report …",
    work: "First, a short calculation that slows down forgers.",
  },

  waiting: {
    title: "Your report has not arrived yet",
    offline: "This device is offline.",
    busy: "The site is busy just now.",
    trouble: "The site has a problem just now.",
    kept: "The same report will be sent again by itself. You can close this page.",
    unkept: "The same report will be sent again by itself. Please keep this page open.",
    again: "Try again",
    drop: "Delete the report instead",
    see: "What will be sent",
  },

  thanks: {
    title: "Thank you. Your report has arrived.",
    results: "Results appear after {count} responses.",
    page: "Results page",
    unpublished: "The people asking see results after {count} responses.",
    once: "A second report would count you twice and say more about you.",
    resumed: "A report that waited on this device has arrived.",
    see: "What was sent",
  },

  sent: {
    says: "Your report says:",
    chance: "Your device may have put any of this there at random.",
    number: "Its number:",
    text: "The exact bytes:",
    pass: "“pass” shows that you were invited, not who you are.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "You have sent your report",
    other: "Someone else wants to answer",
  },

  kiosk: {
    idle: "Are you still there?",
    idleText: "In {count} seconds this page forgets your answers and starts again.",
    stay: "I am still here",
    waits: "Thank you. Your report is on its way.",
  },

  ledger: {
    title: "Your list of surveys",
    offer:
      "A list on this device can add up what surveys reveal about you: title, day and privacy " +
      "used, never an answer. Anyone who uses this browser can read it.",
    keep: "Start the list with this survey",
    text: "Only on this device. ε is the privacy used.",
    survey: "Survey",
    day: "Day",
    total: "Total",
    sure: "About one and the same answer, a 50:50 guess would be right {sure} times in 100.",
    remove: "Remove: {survey}",
    stop: "Delete the list",
  },

  /* Pages instead of the survey. */
  problems: {
    missing: {
      title: "There is no survey here",
      text: "Check the address. The survey may also not be open yet. Nothing was sent.",
    },
    closed: {
      title: "This survey is closed",
      text: "Nothing was sent. Thank you for wanting to take part.",
    },
    offline: {
      title: "The survey could not be loaded",
      text: "Nothing was sent. Check your connection and try again.",
    },
    outdated: {
      title: "This page cannot run this survey",
      text: "Nothing was sent. Tell the person who gave you the address.",
    },
    generator: {
      title: "This browser cannot protect your answers",
      text: "Nothing was sent. Please use a current browser.",
    },
    broken: {
      title: "Something went wrong on this page",
      text: "Your answers are forgotten. Unless you had tapped “Send”, nothing was sent.",
    },
    closedMeanwhile: {
      title: "The survey is no longer open",
      text: "Your report came too late and was not stored.",
    },
    refused: {
      title: "The site did not accept your report",
      text:
        "Please do not answer again: a second report would say more about you. Tell the person " +
        "who gave you the address.",
    },
    dropped: {
      title: "Your report was deleted",
      text: "If it had already reached the site, it stays there.",
    },
    otherDesign: {
      title: "This is not the survey that you were invited to",
      text: "Nothing was sent. Please do not answer. Tell the person who invited you.",
    },
    noPass: {
      title: "Your pass could not be fetched",
      text: "Your code still works. Check your connection and try again.",
    },
    badPass: {
      title: "The site did not give a good pass",
      text: "No answer was sent. Please do not answer. Tell the person who invited you.",
    },
  },
};
