/**
 * Elasticsearch's `standard` analyzer: word boundaries after Unicode's UAX #29 as Lucene's grammar writes them, then
 * lower-casing by code point. Written as one expression, so that it does not change with the ICU of the Node version.
 */

/** Longest token in UTF-16 units; a longer one is cut there and the rest is tokenised anew. */
const MOST_UNITS = 255;

/** Marks, joiners and format characters that stick to what stands before them. */
const ATTACHED = String.raw`(?:(?!\u200B)[\p{Grapheme_Extend}\p{Mc}\p{Cf}\p{Emoji_Modifier}])*`;
const LATER_CLASSES = String.raw`\p{Ideographic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3031-\u3035\u30A0\u30FC\uFF70`;
/** Scripts written without spaces, whose runs stay whole. */
const RUN_SCRIPTS = ['Thai', 'Lao', 'Khmer', 'Myanmar', 'Tai_Le', 'New_Tai_Lue', 'Tai_Tham', 'Tai_Viet', 'Ahom']
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');

const LETTER = String.raw`(?![${LATER_CLASSES}${RUN_SCRIPTS}\p{Grapheme_Extend}\p{Mc}])[\p{Alphabetic}\u05F3]${ATTACHED}`;
const HEBREW = String.raw`(?=\p{Script=Hebrew})\p{L}`;
const AFTER_HEBREW = String.raw`(?<=\p{Script=Hebrew}${ATTACHED})`;
const DIGIT = String.raw`[\p{Nd}\u066B]${ATTACHED}`;
const KATAKANA = String.raw`[\p{Script=Katakana}\u3031-\u3035\u309B\u309C\u30A0\u30FC\uFF70]${ATTACHED}`;
const JOINER = String.raw`[_\u202F\u203F\u2040\u2054\uFE33\uFE34\uFE4D-\uFE4F\uFF3F]${ATTACHED}`;
const MID_BOTH = String.raw`.'\u2018\u2019\u2024\uFE52\uFF07\uFF0E`;
const MID_LETTER = String.raw`(?:[:\u00B7\u0387\u055F\u05F4\u2027\uFE13\uFE55\uFF1A${MID_BOTH}]${ATTACHED}|${AFTER_HEBREW}"${ATTACHED}(?=${HEBREW}))`;
const MID_DIGIT = String.raw`[,;\u037E\u0589\u060C\u060D\u066C\u07F8\u2044\uFE10\uFE14\uFE50\uFE54\uFF0C\uFF1B${MID_BOTH}]${ATTACHED}`;

const WORD = `${LETTER}(?:(?:(?:${JOINER})*|${MID_LETTER})${LETTER})*(?:${AFTER_HEBREW}'${ATTACHED})?`;
const NUMBER = `${DIGIT}(?:(?:(?:${JOINER})*|${MID_DIGIT})${DIGIT})*`;
const PART = `(?:${KATAKANA}(?:(?:${JOINER})*${KATAKANA})*|(?:${WORD}|${NUMBER})+)`;
const JOINED = `(?:${JOINER})*${PART}(?:(?:${JOINER})+${PART})*(?:${JOINER})*`;
const RUN = `(?:(?![\\p{Nd}\\p{P}\\p{S}])[${RUN_SCRIPTS}]${ATTACHED})+`;
const IDEOGRAPH = String.raw`[\p{Script=Han}\p{Ideographic}\p{Script=Hiragana}]${ATTACHED}`;
/** Unicode 13's Extended_Pictographic; later versions took ★ and others out of it. */
const PICTOGRAPH =
  '[©®\\u203C\\u2049™\\u2139\\u2194-\\u2199\\u21A9\\u21AA\\u231A\\u231B\\u2328\\u2388\\u23CF\\u23E9-\\u23F3\\u23F8-\\u23FA\\u24C2' +
  '\\u25AA\\u25AB\\u25B6\\u25C0\\u25FB-\\u25FE\\u2600-\\u2605\\u2607-\\u2612\\u2614-\\u2685\\u2690-\\u2705\\u2708-\\u2712\\u2714\\u2716' +
  '\\u271D\\u2721\\u2728\\u2733\\u2734\\u2744\\u2747\\u274C\\u274E\\u2753-\\u2755\\u2757\\u2763-\\u2767\\u2795-\\u2797\\u27A1\\u27B0' +
  '\\u27BF\\u2934\\u2935\\u2B05-\\u2B07\\u2B1B\\u2B1C\\u2B50\\u2B55\\u3030\\u303D\\u3297\\u3299\\u{1F000}-\\u{1F0FF}\\u{1F10D}-\\u{1F10F}' +
  '\\u{1F12F}\\u{1F16C}-\\u{1F171}\\u{1F17E}\\u{1F17F}\\u{1F18E}\\u{1F191}-\\u{1F19A}\\u{1F1AD}-\\u{1F1E5}\\u{1F201}-\\u{1F20F}\\u{1F21A}' +
  '\\u{1F22F}\\u{1F232}-\\u{1F23A}\\u{1F23C}-\\u{1F23F}\\u{1F249}-\\u{1F3FA}\\u{1F400}-\\u{1F53D}\\u{1F546}-\\u{1F64F}' +
  '\\u{1F680}-\\u{1F6FF}\\u{1F774}-\\u{1F77F}\\u{1F7D5}-\\u{1F7FF}\\u{1F80C}-\\u{1F80F}\\u{1F848}-\\u{1F84F}\\u{1F85A}-\\u{1F85F}' +
  '\\u{1F888}-\\u{1F88F}\\u{1F8AE}-\\u{1F8FF}\\u{1F90C}-\\u{1F93A}\\u{1F93C}-\\u{1F945}\\u{1F947}-\\u{1FAFF}\\u{1FC00}-\\u{1FFFD}]';
const EMOJI = String.raw`\p{Regional_Indicator}{2}${ATTACHED}|[#*]\uFE0F?\u20E3|${PICTOGRAPH}${ATTACHED}(?:(?<=\u200D)${PICTOGRAPH}${ATTACHED})*`;

/** A run of joiners alone is no token; matched so that it is passed over in one step. */
const NOTHING = `(?:${JOINER})+`;

const TOKEN = new RegExp(`${JOINED}|${RUN}|${IDEOGRAPH}|${EMOJI}|(?<nothing>${NOTHING})`, 'gu');

/** The terms of a text, in order and with repetitions. */
export function tokenize(text: string): string[] {
  const tokens: string[] = [];
  let at = 0;
  for (;;) {
    const match = matchFrom(text, at);
    if (!match) return tokens;
    at = match.index;
    const end = at + match[0].length;
    while (end - at > MOST_UNITS) {
      const window = text.slice(at, cutAt(text, at + MOST_UNITS));
      const piece = matchFrom(window, 0);
      add(tokens, piece);
      at += piece ? piece.index + piece[0].length : window.length;
    }
    // What is left of a long token is matched anew, from where it was cut.
    if (at > match.index) continue;
    add(tokens, match);
    at = end;
  }
}

function matchFrom(text: string, at: number): RegExpExecArray | null {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text);
}

function add(tokens: string[], match: RegExpExecArray | null): void {
  if (match && !match.groups?.nothing) tokens.push(lowerCase(match[0]));
}

/** The place itself, or one before it where it would tear a surrogate pair. */
function cutAt(text: string, place: number): number {
  const last = text.charCodeAt(place - 1);
  return last >= 0xd800 && last < 0xdc00 ? place - 1 : place;
}

/** Java's simple lower-casing: no final sigma, and one code point for one. */
function lowerCase(token: string): string {
  if (/^[\0-\x7f]*$/.test(token)) return token.toLowerCase();
  let lower = '';
  for (const character of token) lower += character === 'İ' ? 'i' : character.toLowerCase();
  return lower;
}
