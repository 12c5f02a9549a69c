import { type Mutant, mutantsOf } from '../mutant.ts'

const CASES = ['test/cron/cron.node.test.ts']
const EDGES = ['test/workerd/cron-edges.workerd.test.ts']

const clockChanges = mutantsOf('cron/search.ts', CASES, [
  [
    'A fixed time in a gap is skipped',
    'if (fixed && gap > 0 && gap <= MAX_GAP_MS && match < change + offset) return change',
    '',
  ],
  [
    'A fixed time in a skipped day runs after it',
    'gap <= MAX_GAP_MS && match < change + offset',
    'match < change + offset',
  ],
  [
    'An interval time in a gap runs after it',
    'if (fixed && gap > 0 && gap <= MAX_GAP_MS && match < change + offset)',
    'if (gap > 0 && gap <= MAX_GAP_MS && match < change + offset)',
  ],
  [
    'A fixed time that happens twice runs in both passes',
    '(fixed ? Math.max(before, offset) : offset)',
    'offset',
  ],
  [
    'An interval time that happens twice runs in the first pass only',
    '(fixed ? Math.max(before, offset) : offset)',
    'Math.max(before, offset)',
  ],
  [
    'A search that starts within a repeat finds its fixed times again',
    'if (fixed) wall = Math.max(wall, endOfRepeat(zone, at) - SECOND_MS)',
    '',
  ],
  ['The offset of today is used for a run months away', 'if (run <= at + NEAR_MS) return run', 'return run'],
  [
    'A search from within a second leaves the next whole one out',
    'Math.floor(after / SECOND_MS) * SECOND_MS',
    'Math.ceil(after / SECOND_MS) * SECOND_MS',
  ],
  [
    'Backwards, a fixed time that happens twice is found in its second pass',
    'if (!fixed || match >= endOfRepeat(zone, run)) return run',
    'return run',
  ],
  [
    'Backwards, a fixed time in a gap is skipped',
    'if (fixed && gap > 0 && gap <= MAX_GAP_MS && match >= change + offset) return change',
    '',
  ],
  [
    'Backwards, a search from within a second leaves its whole one out',
    'Math.ceil(before / SECOND_MS) * SECOND_MS - SECOND_MS',
    'Math.floor(before / SECOND_MS) * SECOND_MS - SECOND_MS',
  ],
  [
    'Backwards, the offset of today is used for a run months ago',
    'if (change === undefined && run < at - NEAR_MS) {',
    'if (change === undefined && run < at - 200 * NEAR_MS) {',
  ],
])

const zones = mutantsOf(
  'cron/zone.ts',
  ['src/cron/zone.test.ts'],
  [
    [
      'A clock change is found to the minute only',
      'while (after - before > 1_000)',
      'while (after - before > 60_000)',
    ],
    ['A clock change is found a second too early', '  return after\n', '  return before\n'],
    [
      'Offsets are whole minutes',
      'Date.UTC(year, month - 1, day, hour, minute, second) - at',
      'Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - at) / 60_000) * 60_000',
    ],
    ['Midnight is hour 24', "hourCycle: 'h23'", "hourCycle: 'h24'", CASES],
    [
      'Offsets and abbreviations are taken for zones',
      'name.length <= MAX_ZONE_CHARACTERS && ZONE_NAME.test(name)',
      'name.length <= MAX_ZONE_CHARACTERS',
    ],
  ],
)

const expressions = mutantsOf(
  'cron/expression.ts',
  ['src/cron/expression.test.ts'],
  [
    ['A question mark in the hour makes no interval', '/[*?/]/', '/[*/]/'],
    [
      'The seconds do not count for whether a schedule is an interval',
      'fields[0] + fields[1] + fields[2]',
      'fields[1] + fields[2]',
    ],
    [
      'Seconds are accepted when they are switched off',
      'parts.length === 6 && seconds',
      'parts.length === 6',
    ],
    [
      'Every text is searched, however long',
      'expression.length > MAX_EXPRESSION_CHARACTERS',
      'expression.length > 1e9',
    ],
    ['@weekly is Monday', "['0', '0', '0', '*', '*', '0']", "['0', '0', '0', '*', '*', '1']", EDGES],
    ['A nickname in capitals is unknown', 'NICKNAMES.get(text.toLowerCase())', 'NICKNAMES.get(text)'],
  ],
)

const calendar = [
  ...mutantsOf('cron/wall-clock.ts', CASES, [
    [
      'Day of month and weekday are joined by AND',
      "return new CronPattern(text, undefined, { mode: '7-part' })",
      "return Object.assign(new CronPattern(text, undefined, { mode: '7-part' }), { useAndLogic: true })",
    ],
    [
      'The end of a month is that of the month before',
      'Date.UTC(year, month + 1, 0)',
      'Date.UTC(year, month, 0)',
    ],
    [
      'Only one year is looked at for whether an expression ever fires',
      'index < 12 * WINDOW_YEARS',
      'index < 12',
    ],
    [
      'The window of years of an earlier question is used again',
      'MAX_PATTERNS, text, ()',
      "MAX_PATTERNS, fields.join(' '), ()",
    ],
    [
      'A Sunday that ends a range from Sunday is the whole week',
      'if (/sun-sun/i.test(text)) return undefined',
      '',
      EDGES,
    ],
  ]),
  ...mutantsOf('cron/limits.ts', CASES, [
    ['The search ends after 28 years', 'WINDOW_YEARS = 40', 'WINDOW_YEARS = 28', ['src/cron/cron.test.ts']],
    ['A missing time runs after a gap of a day too', '3 * 3_600_000', '30 * 3_600_000'],
  ]),
  ...mutantsOf(
    'cron/recent.ts',
    ['src/cron/recent.test.ts'],
    [
      [
        'What was used last is let go first',
        'const [oldest] = cache.keys()',
        'const oldest = [...cache.keys()].at(-1)',
      ],
      ['What is used often is let go all the same', '  cache.delete(key)\n  cache.set', '  cache.set'],
    ],
  ),
  ...mutantsOf(
    'cron/errors.ts',
    ['src/cron/errors.test.ts'],
    [
      [
        'An error repeats the whole of its input',
        'JSON.stringify(cut(value, MAX_QUOTED_CHARACTERS))',
        'JSON.stringify(value)',
      ],
    ],
  ),
  ...mutantsOf(
    'cron/options.ts',
    ['src/cron/cron.test.ts'],
    [['A misspelt option is ignored', 'if (unknown !== undefined) {', "if (unknown === '') {"]],
  ),
  ...mutantsOf(
    'cron/cron.ts',
    ['src/cron/cron.test.ts'],
    [
      [
        'A run beyond the window is answered',
        'run === undefined || run > Math.min(from + WINDOW_MS, LATEST_AT)',
        'run === undefined',
      ],
      [
        'An expression that never fires is accepted',
        'if (nextCronTime(expression, systemClock.now(), options) === undefined) {',
        'if (nextCronTime(expression, systemClock.now(), options) === -1) {',
      ],
    ],
  ),
]

export const CRON: readonly Mutant[] = [...clockChanges, ...zones, ...expressions, ...calendar]

export const UTILS: readonly Mutant[] = mutantsOf(
  'utils/delays.ts',
  ['src/utils/utils.test.ts'],
  [
    ['jitter goes down to nothing', 'randomInteger(Math.ceil(ms / 2), ms)', 'randomInteger(0, ms)'],
    ['The half of jitter is rounded down', 'Math.ceil(ms / 2)', 'Math.floor(ms / 2)'],
    [
      'exponential has no maximum but its default',
      'unchecked(attempt, baseMs, maxMs)',
      'unchecked(attempt, baseMs)',
    ],
    [
      'exponential takes attempt 0',
      "check('attempt', attempt, 'number', 1,",
      "check('attempt', attempt, 'number', 0,",
    ],
  ],
)
