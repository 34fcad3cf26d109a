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
  untranslated: "Not all of this survey has been translated: parts of this page are in {language}.",
  testing: "Test. Nothing that you answer here is kept.",
  yes: "Yes",
  no: "No",

  share: {
    above: "more than {count}",
    below: "fewer than {count}",
    about: "about {count}",
    atMost: "at most about {count}",
    range: "{least} to {most}",
  },

  opening: {
    all: { one: "{count} question.", other: "{count} questions." },
    some: "Picked by chance out of {all}.",
    depends: "Some are asked only after certain answers.",
    background: {
      one: "Then {count} question about you.",
      other: "Then {count} questions about you.",
    },
    start: "Start",
    once: "Please answer only once.",

    who: {
      title: "Who asks, and why",
      asked_by: "Who",
      purpose: "Why",
      contact: "Contact",
      kept: "Kept",
      deleted: {
        one: "Everything is deleted {count} day after the survey has closed.",
        other: "Everything is deleted {count} days after the survey has closed.",
      },
    },

    promise: {
      label: "Nobody can know for sure what you answered.",
      who:
        "Not the researchers, not the people who run this site, not a thief who copies the " +
        "database, not a court.",
    },
    weakPromise: {
      label: "The protection of this survey is weak.",
      who:
        "The researchers, the people who run this site, a thief who copies the database or a " +
        "court would see only a report. But someone who sees all of it can be nearly sure. Take " +
        "part only if you would also answer without protection.",
    },

    before: "Say someone who knows you well thinks it is 50:50 that you gave a certain answer.",
    after: "After seeing your whole report, they can be {sure} in 100 sure.",
    afterSensitive:
      "After seeing your report without the answers about you, they can be {sure} in 100 sure.",
    aboutYou:
      "About you: chance may change these answers too. Someone who starts at 50:50 can be " +
      "{sure} in 100 sure of each one, seen alone.",
    weakAboutYou:
      "About you: chance may change these answers too, but their protection is weak. Someone " +
      "who starts at 50:50 can be {sure} in 100 sure of each one, seen alone. You can choose " +
      "not to say.",
    filled: "{sure} in 100: how sure they can be",
    empty: "{doubt} in 100: the doubt that stays",
    picture: "A square of 100 dots. Filled: {filled}. Empty: {empty}.",

    how: {
      title: "How it works",
      answer: "You simply answer truthfully.",
      chance:
        "Chance may change your answers before they leave this device. Only the result, your " +
        "report, is sent.",
      practise: "Try it with a harmless question",
    },

    fears: {
      known: "Can they tell what I answered?",
      knownReply:
        "Not for sure. They see only a report, and chance may have written it. A single " +
        "report is never a proof.",
      weakKnown: "Possibly. The figure above says how sure they can be.",
      wrong: "Could I go down for something I did not choose?",
      wrongReply:
        "Yes, by chance that can happen to anyone. That is why a report is no proof about " +
        "you. For the whole group, the effect of chance is taken out again.",
      weakWrong:
        "Yes, by chance that can happen. For the whole group, the effect of chance is taken " +
        "out again.",
    },

    unprotected: {
      title: "What is not protected",
      part: "That you took part.",
      partText:
        "Someone who watches your network or this device, or who runs this site, may see that " +
        "you opened this page.",
      device: "What someone sees on this device.",
      deviceText:
        "If other people manage it, or look over your shoulder, they may see what you tap.",
      belief: "What someone already believes about you.",
      beliefText:
        "The odds above are for someone who starts at 50:50. Someone who is nearly sure before " +
        "can be nearly sure after.",
      others: "Reports by others.",
      othersText:
        "Anyone who has the address can take part, also more than once. So the results are " +
        "not safe from people who forge reports. Your own answers stay protected.",
      page: "A page that was tampered with.",
      pageText:
        "You trust the program that this site sent you. The part that works with chance is one " +
        "short file that anyone can read, and this browser can test it for you.",
      read: "Read that file",
      verify: "Test it",
    },

    detail: {
      title: "The odds in more detail",
      together:
        "All your answers together: someone who starts at 50:50 can be {sure} in 100 sure.",
      sensitive:
        "Without the answers about you, or if someone knows those already: {sure} in 100 sure.",
      alone:
        "One question with a single choice, on its own: {kept} in 100 answers stay as they " +
        "were given. Chance replaces the rest by another answer.",
      others:
        "If your answers hang together, or someone knows some of them, only the first figure is " +
        "a limit.",
      design:
        "Questions and odds were fixed when this survey opened. This is their digital " +
        "fingerprint. It is the same for everyone who is asked.",
      page: "Read the whole design",
    },

    ledger: "Your list of surveys",
  },

  practice: {
    progress: "Practice",
    note: "Nothing here is sent, and nothing is kept.",
    question: "Do you like rainy days?",
    given: "You tapped “{answer}”. Chance tried it 100 times:",
    others: "If someone taps “{answer}”, 100 tries give, for example:",
    tries: "{yes} of 100 reports say “yes”, {no} say “no”.",
    picture:
      "A square of 100 dots. Filled: {yes} reports that say “yes”. Empty: {no} that say “no”.",
    yes: "a report that says “yes”",
    no: "a report that says “no”",
    lesson:
      "Only one report is ever sent. A “yes” can come from either person, and so can a “no”. " +
      "So one report is never a proof.",
    weakLesson: "Only one report is ever sent, and in this survey it mostly shows what was tapped.",
    start: "Start the survey",
  },

  /* Where people are invited: the code, and what it tells of them. */
  invited: {
    text: "This survey is by invitation. Your code is in the link or on the sheet that you got.",
    asks: "Who is asking:",
    label: "Your code, or the whole link",
    hint: "16 letters and digits. Hyphens and small letters do not matter.",
    next: "Go on",
    malformed: "This is not a whole code. It has 16 letters and digits.",
    mistyped:
      "There is a typing mistake in this code. Compare it with your invitation, letter by " +
      "letter.",
    brokenLink:
      "This link is not complete. Open or copy the whole link from your invitation again, or " +
      "type the code from it.",
    unknown:
      "The site does not know this code. Check it. If you got a reminder, use the newest " +
      "code.",
    fetching: "Fetching your pass …",
    used: {
      title: "This code has been used",
      texts: [
        "A pass was fetched with it before: on another device, in another browser, or by " +
          "someone else.",
        "If that was you, go back to that device and browser. If you have sent your report " +
          "there, thank you. Otherwise ask the person who invited you for a new code.",
      ],
      contact: "Questions to:",
      another: "Type another code",
    },
    known: {
      title: "What your invitation tells",
      can:
        "When you tap “Start”, your code is exchanged for a pass. They can know that your " +
        "invitation was used for that.",
      cannot:
        "They cannot connect it with your report. The site signs your pass without seeing " +
        "it, and the pass shows only that someone who was invited sends the report.",
      network:
        "Someone who watches the network of this site at that time could guess from the " +
        "moment. Nothing that is kept once your report is counted tells it.",
      same:
        "All links of this survey end with {end}. If yours or somebody else’s does not, do not " +
        "answer.",
    },
  },

  asking: {
    progress: "Question {at} of {of}",
    aboutYou: "About you",
    note:
      "Chance may change your answer before it leaves this device. Here, {kept} in 100 answers " +
      "stay as they were given.",
    choose: "Choose an answer …",
    missing: "Please choose one of the answers to go on.",
    back: "Back",
    next: "Next",
    done: "Done",
    rounded:
      "Chance rounds your number to one of {count} values from {least} to {most} before it " +
      "leaves this device, and may change that value, too: {kept} in 100 stay.",
    picked:
      "Your device sends only one option or none, by chance. Here, an option that you pick is " +
      "sent in {picked} of 100 cases, one that you do not pick in {other}.",
    range: "Please enter a whole number from {least} to {most}.",
    less: "Less",
    more: "More",
    picks: "Pick up to {picks}, or none.",
    tooMany: "You can pick up to {picks}. To pick another one, remove one first.",
    none: "None",
    filler:
      "A neutral question, so that the time you take does not tell how many questions you " +
      "were asked. Your answer is not kept.",
    fillers: [
      "Do you prefer tea to coffee?",
      "Do you prefer the sea to the mountains?",
      "Do you get up early at weekends?",
      "Do you like to cook?",
      "Do you prefer summer to winter?",
      "Do you like to watch football?",
    ],
  },

  review: {
    progress: "Last step",
    title: "Check and send",
    lead:
      "When you send, chance works on your answers first. Then this page forgets them, and " +
      "only the report leaves this device.",
    answers: "Chance may change these",
    aboutYou: "About you: chance may change these too",
    change: "Change",
    changeNamed: "Change: {question}",
    send: "Send",
  },

  sending: {
    title: "Sending your report …",
    text: "This takes a moment.",
    work: "This device first does a little work, which makes forged reports slower.",
  },

  waiting: {
    title: "Your report has not arrived yet",
    offline: "This device is offline.",
    busy: "The site is busy just now.",
    trouble: "The site has a problem just now.",
    silent: "The site did not answer.",
    safe: "Nothing was lost. Chance has done its work, and the same report will be sent again.",
    kept:
      "Only the report waits on this device. It goes by itself when the connection is back. " +
      "You may close this page. Then it goes when you open this site again.",
    unkept: "Please keep this page open. The report goes by itself when the connection is back.",
    again: "Try again now",
    drop: "Delete the report instead",
    see: "See what will be sent",
  },

  thanks: {
    title: "Thank you. Your report has arrived.",
    text: "You can close this page now.",
    once:
      "Please answer only once. A second report would count you twice and say clearly more about " +
      "you.",
    resumed: "A report that waited on this device has arrived.",
    receipt: "Receipt",
    receiptText: "This is the number of your report. You do not need to keep it.",
    see: "See what was sent",
  },

  sent: {
    title: "The randomized report",
    text:
      "These are the exact bytes. The numbers under “blocks” are places in the lists of " +
      "answers, or steps of a number’s range, counted from 0; null is no answer. In each " +
      "block, all of them are your answers or all of them are chance.",
    pass: "Under “pass” is your pass. It shows that you were invited, and not who you are.",
    work: "Under “work” is the result of the work that makes forged reports slower.",
    length: "Spaces at the end make every report of this survey equally long.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "You have sent your report",
    text: "This survey was answered here a moment ago. There is nothing more to do.",
    once: "A second report would count you twice and say clearly more about you.",
    other: "Someone else wants to answer",
  },

  kiosk: {
    idle: "Are you still there?",
    idleText:
      "In {count} seconds this page forgets your answers and starts again.",
    stay: "I am still here",
    waits: "Thank you. Your report is on its way.",
    waitsText: "Only the report waits on this device. It goes by itself.",
    finish: "Done",
    finishText: "This page starts again by itself for the next person.",
  },

  ledger: {
    offer: "Keep a list of the surveys you take?",
    offerText:
      "Every survey gives something away about you, and it adds up. A list on this device can " +
      "keep count. It holds the name of the survey, the day and the privacy spent; never an " +
      "answer, never a report. Whoever can open this browser can read it.",
    keep: "Start the list with this survey",
    added: "This survey is on your list.",
    open: "See my list",
    title: "Your list of surveys",
    text:
      "This list is on this device only. It is never sent. The figure ε says how much privacy " +
      "a survey has used.",
    survey: "Survey",
    day: "Day",
    total: "Total",
    sure:
      "Say someone sees all these reports and starts at 50:50. If all of them are about the " +
      "same answer, they can be {sure} in 100 sure of it.",
    empty: "The list is empty.",
    remove: "Remove: {survey}",
    stop: "Delete the list and stop keeping it",
  },

  /* Pages instead of the survey. `again` is the text of a button that starts over. */
  problems: {
    missing: {
      title: "There is no survey here",
      texts: [
        "Check the address: a letter may be missing. The survey may also not be open yet.",
        "If the address came in a message, ask the person who sent it. Nothing was sent from " +
          "this device.",
      ],
    },
    closed: {
      title: "This survey is closed",
      texts: [
        "It takes no more reports. Thank you for wanting to take part.",
        "Nothing was sent from this device.",
      ],
    },
    offline: {
      title: "The survey could not be loaded",
      texts: [
        "Your device may be offline, or the site has a problem.",
        "Nothing was sent. Check your connection and try again.",
      ],
      again: "Try again",
    },
    outdated: {
      title: "This page cannot run this survey",
      texts: [
        "The survey does not fit this page, or its odds are not what it says. So the page " +
          "stops here. Nothing was sent.",
        "Load the page again. If that does not help, tell the person who gave you the address.",
      ],
      again: "Load again",
    },
    generator: {
      title: "This browser cannot protect your answers",
      texts: [
        "It has no safe source of chance. Without it, this page sends nothing.",
        "Please use a current version of Chrome, Edge, Firefox or Safari.",
      ],
    },
    broken: {
      title: "Something went wrong on this page",
      texts: [
        "The page has stopped and has forgotten your answers.",
        "If you had not tapped “Send”, nothing was sent, and you can start again.",
      ],
      again: "Start again",
    },
    changed: {
      title: "The site did not use your report",
      texts: [
        "It says that the survey is no longer the one that this page loaded, and that it did " +
          "not store your report.",
        "Please do not answer again: a second report would say clearly more about you. Tell " +
          "the person who gave you the address.",
      ],
    },
    closedMeanwhile: {
      title: "The survey is no longer open",
      texts: [
        "Your report came too late and was not stored. Nothing but the report left this device.",
        "Thank you for your time.",
      ],
    },
    refused: {
      title: "The site did not accept your report",
      texts: [
        "It was not stored. Nothing but the report left this device.",
        "This is a fault of the site. Please tell the person who gave you the address.",
      ],
    },
    dropped: {
      title: "Your report was deleted",
      texts: [
        "It will not be sent from this device any more.",
        "If it had reached the site before, it stays there. A second one would say clearly " +
          "more about you.",
      ],
    },
    otherDesign: {
      title: "This is not the survey that you were invited to",
      texts: [
        "Your invitation names another version of this survey than the site shows. That " +
          "should never happen, so the page stops here. Nothing was sent.",
        "Please do not answer. Tell the person who invited you.",
      ],
    },
    noPass: {
      title: "Your pass could not be fetched",
      texts: [
        "The site did not answer, or it is busy. Your code is not lost: the same pass can be " +
          "fetched again.",
        "Check your connection and try again.",
      ],
      again: "Try again",
    },
    badPass: {
      title: "The site did not give a good pass",
      texts: [
        "Its signature is not the one of this survey. Such a pass could tell who you are, so " +
          "the page stops here. No answer was sent.",
        "Please do not answer. Tell the person who invited you.",
      ],
    },
  },
};
