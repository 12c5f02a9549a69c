/** The platform's: at most 100 characters of letters, digits, `-` and `_`, the first of them no `-`. */
const MAX_INSTANCE_ID_LENGTH = 100

/**
 * The Workflow instance id of a run id: the same for the same run, another for any other. Letters and digits stand for
 * themselves; every other character is `_`, its code point in hexadecimal, and `_`, so that `a:b` is `a_3a_b`. An id that
 * would be longer than 100 characters is `h-` and the SHA-256 of the run id's UTF-8 in hexadecimal, which no short one is:
 * a `-` is always written as `_2d_`.
 */
export async function instanceIdOf(runId: string): Promise<string> {
  const escaped = [...runId].map(escapedCharacter).join('')
  if (escaped.length <= MAX_INSTANCE_ID_LENGTH) return escaped
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(runId))
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return `h-${hex}`
}

function escapedCharacter(character: string): string {
  return /^[0-9A-Za-z]$/.test(character) ? character : `_${(character.codePointAt(0) ?? 0).toString(16)}_`
}
