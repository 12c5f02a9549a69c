/**
 * The expressions of these tests:
 * - `every 1000` or `every 1000 from 250`: instants on a grid
 * - `plus 1000`: counts from the instant it is asked about, so that its phase shows what that was
 * - `at 5,10`: these instants only
 * - `returns <JSON>`: that value, whatever was asked; `throws`: an error
 */
export function nextOccurrence(expression: string, after: number): number | undefined {
  const [kind = '', text = '', , from = '0'] = expression.split(' ')
  if (kind === 'every') return nextOnGrid(Number(text), Number(from), after)
  if (kind === 'plus') return after + Number(text)
  if (kind === 'at') {
    return text
      .split(',')
      .map(Number)
      .find((at) => at > after)
  }
  if (kind === 'returns') return JSON.parse(text)
  throw new Error(`The expression "${expression}" is broken`)
}

function nextOnGrid(everyMs: number, from: number, after: number): number {
  return Math.floor((after - from) / everyMs) * everyMs + everyMs + from
}
