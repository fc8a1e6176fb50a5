/** Recognises text that is obviously a credential or a card number, before it is stored. */

const PATTERNS: readonly { what: string; pattern: RegExp }[] = [
  { what: 'a private key', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
  { what: 'an AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/ },
  { what: 'an API key', pattern: /\b[sr]k-[A-Za-z0-9_-]{20,}/ },
  { what: 'an API key', pattern: /\b[srp]k_(?:live|test)_[A-Za-z0-9]{16,}/ },
  { what: 'an API key', pattern: /\bAIza[0-9A-Za-z_-]{35}/ },
  {
    what: 'an access token',
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,})/,
  },
  { what: 'an access token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/ },
  { what: 'an access token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/ },
  { what: 'a signed token', pattern: /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/ },
  { what: 'a bearer token', pattern: /\bbearer\s+[A-Za-z0-9._~+/-]{20,}=*/i },
  { what: 'a password in an address', pattern: /\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]+:[^\s:/@]{3,}@/i },
  {
    what: 'a password',
    pattern: /\b(?:password|passwd|passphrase|api[_ -]?key|secret[_ -]?key|access[_ -]?token)\s*[:=]\s*\S{6,}/i,
  },
];

const CARD = /(?<![\d.,])\d(?:[ -]?\d){12,18}(?![\d.,]?\d)/g;

/** What the text looks like, such as `an API key`; null where it looks like nothing secret. */
export function secretIn(text: string): string | null {
  const known = PATTERNS.find(({ pattern }) => pattern.test(text));
  if (known) return known.what;
  const card = text.match(CARD)?.some((digits) => isCardNumber(digits.replace(/[ -]/g, '')));
  return card ? 'a card number' : null;
}

/** Issuer ranges in use and the Luhn check digit. */
function isCardNumber(digits: string): boolean {
  if (
    !/^(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|6\d{15,18}|35\d{14})$/.test(digits)
  )
    return false;
  let sum = 0;
  for (const [index, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
