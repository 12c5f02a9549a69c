import { describe, expect, it } from 'vitest'
import { nextCronTime } from './cron.ts'
import { InvalidCronError } from './errors.ts'
import { isFixed, splitExpression } from './expression.ts'

const AT = Date.UTC(2026, 5, 15)

function refusalOf(call: () => unknown): InvalidCronError {
  try {
    call()
  } catch (error) {
    if (error instanceof InvalidCronError) return error
    throw error
  }
  throw new Error('it was accepted')
}

const EVERY_31: string = Array.from({ length: 31 }, (_, index) => index + 1).join(',')

const ACCEPTED = [
  '* * * * *',
  '\t0 0 * * *\t ',
  ' @Weekly ',
  '@MIDNIGHT',
  '0 0 * * 0-7',
  '0 0 * * 5-7',
  '0 0 * * sat-SUN',
  '0 0 * * Mon,wED,7',
  '0 0 1 Jan-mar,DEC *',
  '00 007 * * *',
  '*/60 */24 */31 */12 */7',
  '1-59/58 0 * * *',
  '5-5 3-3 * * *',
  '?/5 ? ? ? ?',
  '0 0 L,15 * *',
  '0 0 l * *',
  '0 0 lw * *',
  '0 0 1w,15W * *',
  '0 0 31W * *',
  '0 0 * * 5L',
  '0 0 * * friL',
  '0 0 * * 5#L',
  '0 0 * * FRI#l',
  '0 0 * * 1-5#2',
  '0 0 * * 7#1',
  '0 0 * * MON#1,THU#3',
  '0 0 13 * +5',
  '0 0 13 * +*',
  '0 0 13 * +MON-FRI',
  '59 59 23 31 12 *',
  `0 0 ${EVERY_31} * *`,
]

/** Beside the kinds in the shared cases. The second is the field that has to be named. */
const REFUSED: readonly (readonly [string, string])[] = [
  ['   ', 'expression'],
  ['* * * *', 'expression'],
  ['* * * * * * * *', 'expression'],
  ['@', 'expression'],
  ['@daily x', 'expression'],
  ['@ daily', 'expression'],
  ['@every 5m', 'expression'],
  ['@constructor', 'expression'],
  ['@__proto__', 'expression'],
  ['x @daily', 'expression'],
  ['0 0 * * *\r', 'expression'],
  ['0\u00a00 * * *', 'expression'],
  ['0 0 * * *\u0000', 'expression'],
  ['\u0660 0 * * *', 'expression'],
  ['0 0 * * \u{1d7d7}', 'expression'],
  ['0 0 * * *;', 'expression'],
  ['H H * * *', 'minute'],
  ['60 0 0 * * *', 'second'],
  ['-1 * * * *', 'minute'],
  ['1- * * * *', 'minute'],
  ['1--5 * * * *', 'minute'],
  ['1-2-3 * * * *', 'minute'],
  ['*-5 * * * *', 'minute'],
  ['1-* * * * *', 'minute'],
  ['** * * * *', 'minute'],
  ['?? * * * *', 'minute'],
  ['5* * * * *', 'minute'],
  ['*/0 * * * *', 'minute'],
  ['1-5/0 * * * *', 'minute'],
  ['1-5/61 * * * *', 'minute'],
  ['*/ * * * *', 'minute'],
  ['5/5 * * * *', 'minute'],
  ['*/2/3 * * * *', 'minute'],
  ['*/2-5 * * * *', 'minute'],
  ['0-60 * * * *', 'minute'],
  ['0-99999999999999999999/1 * * * *', 'minute'],
  ['99999999999999999999 * * * *', 'minute'],
  [',1 * * * *', 'minute'],
  ['1, * * * *', 'minute'],
  [', * * * *', 'minute'],
  ['+1 * * * *', 'minute'],
  ['1+2 * * * *', 'minute'],
  ['1e1 * * * *', 'minute'],
  ['L * * * *', 'minute'],
  ['* 24 * * *', 'hour'],
  ['* */25 * * *', 'hour'],
  ['* 1#1 * * *', 'hour'],
  ['* 9W * * *', 'hour'],
  ['* 9AM * * *', 'hour'],
  ['0 0 32 * *', 'dayOfMonth'],
  ['0 0 0W * *', 'dayOfMonth'],
  ['0 0 32W * *', 'dayOfMonth'],
  ['0 0 W * *', 'dayOfMonth'],
  ['0 0 W15 * *', 'dayOfMonth'],
  ['0 0 15WW * *', 'dayOfMonth'],
  ['0 0 WL * *', 'dayOfMonth'],
  ['0 0 1-15W * *', 'dayOfMonth'],
  ['0 0 15W/2 * *', 'dayOfMonth'],
  ['0 0 *W * *', 'dayOfMonth'],
  ['0 0 LW,15 * *', 'dayOfMonth'],
  ['0 0 LL * *', 'dayOfMonth'],
  ['0 0 L, * *', 'dayOfMonth'],
  ['0 0 15L * *', 'dayOfMonth'],
  ['0 0 1-L * *', 'dayOfMonth'],
  ['0 0 1#1 * *', 'dayOfMonth'],
  ['0 0 +1 * *', 'dayOfMonth'],
  ['0 0 MON * *', 'dayOfMonth'],
  ['0 0 * 13 *', 'month'],
  ['0 0 * */13 *', 'month'],
  ['0 0 * January *', 'month'],
  ['0 0 * JA *', 'month'],
  ['0 0 * JANFEB *', 'month'],
  ['0 0 * 1JAN *', 'month'],
  ['0 0 * JAN/2 *', 'month'],
  ['0 0 * DEC-JAN *', 'month'],
  ['0 0 * MON *', 'month'],
  ['0 0 * +1 *', 'month'],
  ['0 0 * * MO', 'dayOfWeek'],
  ['0 0 * * JAN', 'dayOfWeek'],
  ['0 0 * * SUNDAY', 'dayOfWeek'],
  ['0 0 * * SUNMON', 'dayOfWeek'],
  ['0 0 * * FRI5', 'dayOfWeek'],
  ['0 0 * * FRI-MON', 'dayOfWeek'],
  ['0 0 * * 6-0', 'dayOfWeek'],
  ['0 0 * * SUN-sun', 'dayOfWeek'],
  ['0 0 * * 0-8', 'dayOfWeek'],
  ['0 0 * * */8', 'dayOfWeek'],
  ['0 0 * * 5#0', 'dayOfWeek'],
  ['0 0 * * 5#6', 'dayOfWeek'],
  ['0 0 * * 5#', 'dayOfWeek'],
  ['0 0 * * #2', 'dayOfWeek'],
  ['0 0 * * 5#-1', 'dayOfWeek'],
  ['0 0 * * 5#2#3', 'dayOfWeek'],
  ['0 0 * * 5#2L', 'dayOfWeek'],
  ['0 0 * * *#2', 'dayOfWeek'],
  ['0 0 * * *L', 'dayOfWeek'],
  ['0 0 * * 5W', 'dayOfWeek'],
  ['0 0 * * LW', 'dayOfWeek'],
  ['0 0 * * +', 'dayOfWeek'],
  ['0 0 * * ++5', 'dayOfWeek'],
  ['0 0 * * 5+', 'dayOfWeek'],
  ['0 0 * * 1,+5', 'dayOfWeek'],
]

describe('an expression', () => {
  for (const text of ACCEPTED) {
    it(`${JSON.stringify(text)} is accepted`, () => {
      expect(nextCronTime(text, AT)).toBeGreaterThan(AT)
    })
  }

  for (const [text, field] of REFUSED) {
    it(`${JSON.stringify(text)} is refused, for its ${field}`, () => {
      const error = refusalOf(() => nextCronTime(text, AT))
      expect(error.field).toBe(field)
      expect(error.message.length).toBeLessThanOrEqual(200)
      if (text.trim().length > 4) expect(error.message).not.toContain(text)
    })
  }

  it('of 256 characters is accepted, of 257 refused', () => {
    const text = `0${' '.repeat(247)}0 * * *`
    expect(text.length).toBe(255)
    expect(nextCronTime(`${text} `, AT)).toBeGreaterThan(AT)
    expect(refusalOf(() => nextCronTime(`${text}  `, AT)).code).toBe('too_long')
  })

  it('that is no string is refused as such', () => {
    for (const value of [undefined, null, 5, {}, [], new Date(), new String('* * * * *'), Symbol('x'), 1n]) {
      // Callers without types, or with a value out of JSON.
      expect(refusalOf(() => nextCronTime(value as string, AT)).code).toBe('not_a_string')
    }
  })

  it('with seconds is refused when seconds are switched off', () => {
    expect(nextCronTime('0 0 * * *', AT, { seconds: false })).toBe(Date.UTC(2026, 5, 16))
    expect(nextCronTime('@daily', AT, { seconds: false })).toBe(Date.UTC(2026, 5, 16))
    expect(refusalOf(() => nextCronTime('0 0 0 * * *', AT, { seconds: false })).code).toBe('field_count')
  })

  it('is fixed when its times of day hold no star, question mark or step', () => {
    const kinds = ['0 2 * * *', '0,30 1-3 * * *', '@weekly', '5 0 2 */2 * ?'].map((text) =>
      isFixed(splitExpression(text, true)),
    )
    expect(kinds).toEqual([true, true, true, true])
    const others = ['* 2 * * *', '? 2 * * *', '0 0-23/2 * * *', '@hourly', '*/5 0 2 * * *'].map((text) =>
      isFixed(splitExpression(text, true)),
    )
    expect(others).toEqual([false, false, false, false, false])
  })
})
