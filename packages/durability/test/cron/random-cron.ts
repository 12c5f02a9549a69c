import fc from 'fast-check'

/** Random expressions that are right, for the comparison, and random texts of any kind, for the budget. */

interface Range {
  readonly min: number
  readonly max: number
}

function value({ min, max }: Range): fc.Arbitrary<string> {
  return fc.integer({ min, max }).map(String)
}

function range(bounds: Range): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer(bounds), fc.integer(bounds))
    .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
}

function step(bounds: Range): fc.Arbitrary<string> {
  const size = fc.integer({ min: 1, max: bounds.max - bounds.min + 1 })
  return fc.tuple(fc.oneof(fc.constant('*'), range(bounds)), size).map(([of, by]) => `${of}/${by}`)
}

function list(item: fc.Arbitrary<string>, maxLength = 4): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 1, maxLength }).map((items) => items.join(','))
}

function plain(bounds: Range): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: list(value(bounds)) },
    { weight: 1, arbitrary: range(bounds) },
    { weight: 1, arbitrary: step(bounds) },
    { weight: 1, arbitrary: list(fc.oneof(value(bounds), range(bounds), step(bounds))) },
    { weight: 2, arbitrary: fc.constantFrom('*', '*', '?') },
  )
}

const SIXTY: Range = { min: 0, max: 59 }

const second = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('0', '0', '30', '59') },
  { weight: 1, arbitrary: plain(SIXTY) },
)
const minute = fc.oneof(fc.constantFrom('0', '30', '0,30', '15,45', '59'), plain(SIXTY))
/** Mostly the hours in which clocks are changed. */
const hour = fc.oneof(
  { weight: 3, arbitrary: list(fc.constantFrom('0', '1', '2', '3', '4', '22', '23', '0-3', '22-23')) },
  { weight: 2, arbitrary: plain({ min: 0, max: 23 }) },
)
const dayOfMonth = fc.oneof(
  { weight: 4, arbitrary: fc.constant('*') },
  { weight: 2, arbitrary: plain({ min: 1, max: 31 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('L', 'LW', 'l', '1W', '15W', '31W', 'L,15', '1W,L', '29', '30', '31'),
  },
  {
    weight: 1,
    arbitrary: list(
      value({ min: 1, max: 31 }).map((day) => `${day}W`),
      12,
    ),
  },
)
const month = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 1, arbitrary: plain({ min: 1, max: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('MAR', 'oct,NOV', 'jan-Mar', 'apr,sep', '2', 'feb') },
)
const weekdayName = fc.constantFrom('sun', 'MON', 'Tue', 'WED', 'thu', 'FRI', 'sat', '0', '1', '5', '6', '7')
const weekdayItem = fc.oneof(
  weekdayName,
  range({ min: 0, max: 7 }),
  fc.constantFrom('mon-fri', 'SAT-SUN', '*/2', '*/3'),
  fc
    .tuple(
      fc.oneof(weekdayName, range({ min: 0, max: 7 })),
      fc.constantFrom('#1', '#2', '#3', '#4', '#5', '#L', 'L'),
    )
    .map((p) => p.join('')),
)
const weekday = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*', '?') },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom('', '+'), list(weekdayItem)).map((parts) => parts.join('')),
  },
)

/** Of 5 or 6 fields, at most 256 characters. */
export const validExpression: fc.Arbitrary<string> = fc
  .tuple(fc.option(second), minute, hour, dayOfMonth, month, weekday)
  .map((fields) => fields.filter((field) => field !== null).join(' '))
  .filter((text) => text.length <= 256)

/** At a time of day that is known, so that only the date fields decide. */
export const validDates: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('0 0', '30 12', '59 23', '0 0,6,18'), dayOfMonth, month, weekday)
  .map((fields) => fields.join(' '))

const everyW = Array.from({ length: 31 }, (_, index) => `${index + 1}W`).join(',')
const heavyDay = fc.constantFrom(
  '*',
  'L',
  'LW',
  '29',
  '30',
  '31',
  everyW,
  '31W',
  `L,${everyW.slice(0, 60)}1W`,
  '1-31',
)
const heavyMonth = fc.constantFrom('*', '2', '3', '4', '10', '11', '2,4,6,9,11', '3,10')
const heavyWeekday = fc
  .tuple(
    fc.constantFrom('+', ''),
    list(
      fc
        .tuple(fc.integer({ min: 0, max: 7 }), fc.constantFrom('L', '#1', '#4', '#5', ''))
        .map((p) => p.join('')),
      8,
    ),
  )
  .map((parts) => parts.join(''))
const heavy = fc
  .tuple(
    fc.constantFrom('*', '0', '0-59', '*/7'),
    fc.constantFrom('*', '0', '0-59'),
    fc.constantFrom('*', '0', '1', '2', '1,2', '0-3', '23'),
    heavyDay,
    heavyMonth,
    heavyWeekday,
  )
  .map((fields) => fields.join(' '))

const alphabet = fc.constantFrom(...'0123456789*,/-#?+ \tLWlw:@.JANMONSUNabcxyz\n\0é０ ')
const noise = fc.array(alphabet, { maxLength: 60 }).map((characters) => characters.join(''))
const mutated = fc.tuple(validExpression, fc.nat(255), alphabet).map(([text, at, character]) => {
  const index = at % (text.length + 1)
  return text.slice(0, index) + character + text.slice(index + (at % 2))
})
const long = fc
  .tuple(
    fc.constantFrom('1,', ' ', '*', '0-59,', '9', '/', '#', 'L', 'MON-', '+'),
    fc.constantFrom(50, 127, 256, 10_000),
  )
  .map(([text, count]) => `${text.repeat(count)} * * * *`)

/** Anything that somebody might type, paste or try. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: heavy },
  { weight: 3, arbitrary: validExpression },
  { weight: 3, arbitrary: mutated },
  { weight: 1, arbitrary: noise },
  { weight: 1, arbitrary: long },
)
