import { RequestError } from './answers.ts'

/** The parameters of an address, each given once. Which there may be is for the engine to say. */
export function queryOf(url: string, names: readonly string[]): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, text] of new URL(url).searchParams) {
    if (!names.includes(name))
      throw new RequestError('bad_request', `There is no parameter "${name.slice(0, 80)}"`, name)
    if (Object.hasOwn(query, name)) throw new RequestError('bad_request', `${name} is given twice`, name)
    query[name] = NUMBERS.has(name) ? numberOf(text) : name === 'paused' ? booleanOf(text) : text
  }
  return query
}

const NUMBERS: ReadonlySet<string> = new Set(['limit', 'offset', 'count'])

/** What is no number is handed on as it is: the engine names it in its refusal. */
function numberOf(text: string): unknown {
  return /^\d{1,15}$/.test(text) ? Number(text) : text
}

function booleanOf(text: string): unknown {
  return text === 'true' ? true : text === 'false' ? false : text
}
