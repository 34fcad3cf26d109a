/*
 * Every text of the respondent's page, in one place: English.
 *
 * Rules for these texts. First what can happen to a person, then how it works. One idea a
 * sentence, words that a fourteen-year-old knows, no formula. Odds are "N in 100" and come from
 * the survey's own design. Nothing here may say, or let anyone guess, whether chance has changed
 * an answer, and nothing may promise more than the figures do.
 */

const language = "en";

const plural = new Intl.PluralRules(language);
const digits = new Intl.NumberFormat(language);

const number = (value) => digits.format(value);
const counted = (count, one, other) =>
  `${number(count)} ${plural.select(count) === "one" ? one : other}`;

/* Counts out of 100, as odds.js gives them. */
function exactly({ count, edge }) {
  if (edge === "above") return `more than ${number(count)}`;
  if (edge === "below") return `fewer than ${number(count)}`;
  return number(count);
}
const about = (share) => (share.edge ? exactly(share) : `about ${exactly(share)}`);
const atMost = (share) => (share.edge ? exactly(share) : `at most about ${exactly(share)}`);
const between = (least, most) =>
  exactly(least) === exactly(most) ? about(least) : `${about(least)} to ${exactly(most)}`;

export const words = {
  loading: "Loading the survey …",

  opening: {
    facts(asked, all, strata) {
      const questions = counted(asked, "question", "questions");
      const picked = asked < all ? `, picked by chance out of ${number(all)}` : "";
      const background = counted(strata, "background question", "background questions");
      return `${questions}${picked}${strata ? `, then ${background} you may skip` : ""}.`;
    },
    start: "Start",

    promise: {
      label: "Nobody can know for sure what you answered.",
      how:
        "Chance may change your answers before they leave this device. " +
        "Only the result, your report, is sent.",
      who:
        "This holds for the researchers, for the people who run this site, for a thief who " +
        "copies the database, and for a court. They can only ever see the report.",
    },
    weakPromise: {
      label: "The protection of this survey is weak.",
      how:
        "Chance may change your answers before they leave this device, but here it seldom does. " +
        "Take part only if you would also answer openly.",
      who:
        "The researchers, the people who run this site, a thief who copies the database or a " +
        "court would see only your report. But that report will mostly match your answers.",
    },

    odds(sure, doubt) {
      const filled = `${exactly(sure)} in 100: how sure they can be`;
      const empty = `${exactly(doubt)} in 100: the doubt that stays`;
      return {
        before: "Say someone thinks it is 50:50 that you gave a certain answer.",
        after: `After seeing your whole report, they can be ${atMost(sure)} in 100 sure.`,
        filled,
        empty,
        picture: `A square of 100 dots. Filled: ${filled}. Empty: ${empty}.`,
      };
    },

    fears: {
      yes: [
        [
          "Can they tell that I said “yes”?",
          "Not for sure. They see only a report, and chance may have written it. " +
            "A single “yes” proves nothing about anyone.",
        ],
        [
          "Could I go down as a “yes” although I said “no”?",
          "By chance, that can happen to anyone. That is why a “yes” in a report is no proof " +
            "about you. For the whole group, the effect of chance is taken out again.",
        ],
      ],
      choice: [
        [
          "Can they tell what I chose?",
          "Not for sure. They see only a report, and chance may have written it. " +
            "A single report proves nothing about anyone.",
        ],
        [
          "Could I go down for something I did not choose?",
          "By chance, that can happen to anyone. That is why a report is no proof about you. " +
            "For the whole group, the effect of chance is taken out again.",
        ],
      ],
      weak: [
        [
          "Can they tell what I answered?",
          "Nearly. With these odds, a report is almost as telling as an open answer.",
        ],
        [
          "Could I go down for something I did not choose?",
          "Yes, by chance, but rarely. For the whole group, the effect of chance is taken out " +
            "again.",
        ],
      ],
    },

    unprotected: {
      title: "What is not protected",
      points(strata) {
        return [
          [
            "That you took part.",
            "Someone who watches your network or this device may see that you opened this page.",
          ],
          strata > 0 && [
            "The background questions.",
            "They are sent as you give them. You can skip each one.",
          ],
          [
            "What someone sees on this device.",
            "If other people manage it, or look over your shoulder, they may see what you tap.",
          ],
          [
            "What someone already believes about you.",
            "The odds above are for someone who starts at 50:50. " +
              "Someone who is nearly sure before can be nearly sure after.",
          ],
          [
            "A page that was tampered with.",
            "You trust the program that this site sent you. The part that works with chance is " +
              "one short file, and anyone can read it.",
          ],
        ].filter(Boolean);
      },
      program: "Read that file",
    },

    detail: {
      title: "The odds in more detail",
      points(sure, least, most) {
        return [
          `All your answers together: someone who starts at 50:50 can be ${atMost(sure)} in 100 ` +
            "sure.",
          `One question on its own: ${between(least, most)} in 100 answers stay as they were ` +
            "given. Chance puts another one in place of the others.",
          "Someone who already knows your other answers is held back by the first figure only.",
        ];
      },
      design:
        "Questions and odds were fixed when this survey opened. This is their fingerprint. " +
        "It is the same for everyone who is asked.",
    },
  },

  asking: {
    progress: (at, of) => `Question ${number(at)} of ${number(of)}`,
    protectedNote(kept) {
      return (
        "Chance may change your answer before it leaves this device. " +
        `Here, ${about(kept)} in 100 answers stay as they were given.`
      );
    },
    clearNote: {
      label: "Not protected by chance.",
      text: "This background question is sent as you give it. You can skip it.",
    },
    notGiven: "Prefer not to give this",
    missing: "Please choose one of the answers to go on.",
    back: "Back",
    next: "Next",
    done: "Done",
  },

  review: {
    progress: "Last step",
    title: "Check and send",
    lead:
      "When you send, chance works on your answers first. Then this page forgets them, and only " +
      "the report leaves this device.",
    protected: "Chance may change these",
    clear: "Sent as you gave them",
    notGiven: "Not given",
    change: "Change",
    back: "Back",
    send: "Send",
  },

  sending: {
    title: "Sending your report …",
    text: "This takes a moment. Please keep this page open.",
  },

  again: {
    title: "Your report has not arrived yet",
    text:
      "Chance has already done its work, and nothing was lost. " +
      "The same report is waiting on this page.",
    keep: "Keep this page open and try again when your connection is back.",
    wait: (seconds) =>
      `The server is busy. Please wait ${counted(seconds, "second", "seconds")} and try again.`,
    button: "Try again",
    see: "See what will be sent",
  },

  thanks: {
    title: "Thank you. Your report has arrived.",
    text: "You can close this page now.",
    once:
      "Please answer only once. A second report would count you twice and say a little more " +
      "about you.",
    receipt: "Receipt",
    receiptText: "This is the number of your report. You do not need to keep it.",
    see: "See what was sent",
  },

  sent: {
    title: "The randomized report",
    text:
      "These are the exact bytes. Each number is a place in the list of answers, counted from 0. " +
      "What stands here may be your answer or may be chance.",
    length: (bytes) =>
      `Spaces at the end make every report of this survey ${counted(bytes, "byte", "bytes")} long.`,
  },

  /* Pages instead of the survey. `again` is the text of a button that starts over. */
  problems: {
    missing: {
      title: "There is no survey here",
      texts: [
        "Check the address: a letter may be missing. The survey may also not be open yet.",
        "If it came in a message, ask the person who sent it. Nothing was sent from this device.",
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
        "Your device may be offline, or the connection is weak.",
        "Nothing was sent. Check your connection and try again.",
      ],
      again: "Try again",
    },
    trouble: {
      title: "The site has a problem",
      texts: [
        "It is not your fault, and nothing was sent from this device.",
        "Please try again in a few minutes.",
      ],
      again: "Try again",
    },
    outdated: {
      title: "This page cannot run this survey",
      texts: [
        "The survey does not fit this page, or its odds are not what it says. " +
          "So the page stops here. Nothing was sent.",
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
        "The page has stopped and has forgotten your answers. Nothing more will be sent.",
        "If you had not reached the thank-you page, please start again.",
      ],
      again: "Start again",
    },
    changed: {
      title: "Your report could not be used",
      texts: [
        "The survey is no longer the one that this page loaded. Your report was not stored.",
        "If you like, start again with the current survey.",
      ],
      again: "Start again",
    },
    taken: {
      title: "Your report could not be stored",
      texts: [
        "The site already has another report with the same number. This one was not stored.",
        "If you like, start again. You will get a new number.",
      ],
      again: "Start again",
    },
    closedMeanwhile: {
      title: "The survey has just closed",
      texts: [
        "Your report came too late and was not stored. Your answers never left this device.",
        "Thank you for your time.",
      ],
    },
    tooLarge: {
      title: "The site did not accept your report",
      texts: [
        "It says that the report is too large. Nothing was stored, and your answers never left " +
          "this device.",
        "This is a fault of the site. Please tell the person who gave you the address.",
      ],
    },
    refused: {
      title: "The site did not accept your report",
      texts: [
        "It was not stored. Your answers never left this device.",
        "This is a fault of the site. Please tell the person who gave you the address.",
      ],
    },
  },
};
