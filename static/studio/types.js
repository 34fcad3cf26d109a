/*
 * The types that the modules of the editor share. Nothing here runs, and no browser loads it.
 */

/**
 * Texts, and Candor's words for no, yes and “prefer not to say”.
 * @typedef {Record<string, string>} Texts  by language tag
 * @typedef {Record<string, string[]>} Ours  by language tag
 * @typedef {"title" | "introduction" | "asked_by" | "purpose" | "contact"} TextName
 * @typedef {{ holder: any, at: string | number, original: string, option?: HeldOption }} OptionField
 * @typedef {"questions" | "background"} List
 *
 * A survey file: its questions, their translations, and the whole.
 * @typedef {{ question: string, options: string[] }} Condition  a key, and keys of options
 * @typedef {object} Item
 * @property {string} key
 * @property {string} text
 * @property {string} [kind]
 * @property {string[]} [options]
 * @property {boolean} [prefer_not_to_say]
 * @property {number} [epsilon]
 * @property {number | null} [least]
 * @property {number | null} [most]
 * @property {string | null} [unit]
 * @property {(number | null)[] | null} [scores]
 * @property {number | null} [picks]
 * @property {Condition | null} [only_if]
 * @property {boolean} [shuffled]
 * @typedef {{ text?: string, options?: string[], unit?: string }} ItemTexts
 * @typedef {{ [name in TextName]?: string } & { questions?: Record<string, ItemTexts> }} Translation
 * @typedef {object} SurveyParts
 * @property {string} language
 * @property {Record<string, Translation>} translations
 * @property {number} epsilon
 * @property {number | null} [ask]
 * @property {Item[]} questions
 * @property {Item[]} background
 * @property {string[][]} [blocks]
 * @typedef {SurveyParts & Record<string, any>} SurveyDocument  including members that the editor does not know
 *
 * The editor's state.
 * @typedef {{ id: string, text: Texts }} HeldOption
 * @typedef {object} Held  a question; what its kind does not use is kept until the page is left
 * @property {string} id
 * @property {string} key
 * @property {string} kind
 * @property {boolean} declined  always true for a background question
 * @property {number | null} epsilon  of a background question; null: the default
 * @property {number[]} blocks  the numbers of its blocks, if the author chose them
 * @property {Texts} text
 * @property {HeldOption[]} options
 * @property {Ours} ours
 * @property {boolean} shuffled
 * @property {Condition | null} onlyIf
 * @property {number | null} least
 * @property {number | null} most
 * @property {Texts} unit
 * @property {(number | null)[] | null} scores  by place; null: 1, 2, 3 …
 * @property {number | null} picks
 * @typedef {object} StateParts
 * @property {Record<string, any>} rest
 * @property {string} language
 * @property {string[]} tags
 * @property {number} epsilon
 * @property {number | null} ask
 * @property {Held[]} questions
 * @property {Held[]} background
 * @typedef {StateParts & Record<TextName, Texts>} State
 */

/**
 * What the server says of a draft.
 * @typedef {"saved" | "saving" | "waiting" | "offline" | "refused" | "conflict" | "opened" | "out"} Saving
 * @typedef {{ where: string, what: string }} Refused
 *
 * @typedef {{ epsilon: string, sure: string }} Cost
 * @typedef {object} Figures
 * @property {string} sure  of the sensitive answers: how sure someone guessing 50:50 becomes
 * @property {number} dots  the same as a number out of 100
 * @property {boolean} weak
 * @property {Cost[]} costs  of the background answers
 * @property {Cost} report  of all answers together
 * @property {Refused} [problem]  if present, none of what follows is
 * @property {string} [everybody]
 * @property {{ groups: number, error: string }[]} [by_group]  for each background question
 * @property {string} [blocks]
 * @property {{ error: string }[]} [questions]
 *
 * What other ways to ask a question would cost, and its blocks; each if it is known and applies.
 * @typedef {object} Ways
 * @property {number[]} [blocks]  the numbers of its blocks
 * @property {string} [average]  of a number: the expected error
 * @property {Record<string, string>} [ranges]  the expected error of a scale with so many options instead
 * @property {{ picks: number, what: string, error: string, people: string }[]} [picks]  of multiple choice
 * @property {string} [follow_ups]  what its follow-ups cost, in a sentence
 *
 * @typedef {{ at: string, holds: boolean }} Opens
 * @typedef {"questions" | "options" | "bound" | "background_epsilon" | "usual_background_epsilon"} QuestionLimit
 * @typedef {QuestionLimit | "title" | "disclosure"} LimitName
 * @typedef {Record<LimitName, number>} DocumentLimits
 *
 * @typedef {object} Answer
 * @property {number} number
 * @property {boolean} undo
 * @property {boolean} redo
 * @property {Record<string, string>} wrong
 * @property {{ what: string, place: string }[]} blocks
 * @property {Figures} figures
 * @property {Record<string, Ways>} ways  by the key of the question
 * @property {Opens | null} opens
 * @property {string} slug
 * @property {SurveyDocument} [document]  if present, all of what follows is too
 * @property {boolean} follows
 * @property {Ours} ours
 * @property {DocumentLimits} limits
 * @property {Record<string, string>} kinds
 */

/**
 * A kind of question.
 * @typedef {"scores" | "least" | "most" | "unit" | "picks"} Member  of a question, by kind
 *
 * @typedef {object} Kind
 * @property {string} kind
 * @property {boolean} writesOptions  whether the author writes options
 * @property {number} ourOptions  how many are Candor's, before the author's
 * @property {boolean} canBeGate  whether follow-ups can depend on it
 * @property {boolean} canFollow  whether it can be a follow-up
 * @property {boolean} canShuffle  whether a random order of its options is offered
 * @property {Member[]} members  what it adds to a question in a survey file
 * @property {(ed: Editor, question: Held, at: string, name: string) => Node[]} fields
 * @property {(ed: Editor, question: Held, j: number, at: string, name: string) => Node} [optionField]
 * @property {(question: Held, ways: Ways) => void} [showWays]
 */

/**
 * @typedef {HTMLInputElement | HTMLTextAreaElement} Field
 * @typedef {{ input: Field | HTMLButtonElement | HTMLSelectElement, error: HTMLElement, atOnce?: boolean }} Registered
 *
 * What all parts of the editor share.
 * @typedef {object} Editor
 * @property {State} state
 * @property {Ours} ours  Candor's words for no, yes and “prefer not to say”, by language
 * @property {DocumentLimits} limits
 * @property {Record<string, string>} kinds  of questions, with what to call them
 * @property {Record<string, string>} wrong  by place in the document
 * @property {{ what: string, place: string }[]} blocks  other findings of the checklist that block opening
 * @property {Refused | null} refused
 * @property {Figures | null} figures
 * @property {Record<string, Ways>} ways  by key: what other ways to ask would cost
 * @property {string | null} other  the language shown next to the original
 * @property {string | null} menu  the option whose move buttons are shown
 * @property {Map<string, Registered>} fields  by place in the document
 * @property {Set<string>} touched  fields whose errors are shown
 * @property {Set<string>} edited  places with changes that the server has not seen
 * @property {boolean} pressed  whether the mouse is down
 * @property {number} shortPause  milliseconds: a figure is waited for, so it is saved sooner than a text
 * @property {() => void} draw
 * @property {(step: string, pause?: number) => void} changed
 * @property {(text: string) => void} say
 * @property {() => void} showWrong
 * @property {() => void} showSaving
 * @property {() => void} showWays
 * @property {(tag: string) => void} chooseLanguage
 * @property {() => string} newId
 */

export {};
