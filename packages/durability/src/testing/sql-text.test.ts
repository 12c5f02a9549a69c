import { expect, test } from 'vitest'
import { splitStatements } from './sql-text.ts'

const texts = (query: string) => splitStatements(query).map((statement) => statement.text)

test('semicolons separate statements, but not inside literals, names and comments', () => {
  expect(texts(`SELECT ';' AS "a;b"; -- c;d\nSELECT 2 /* ; */;`)).toEqual([
    `SELECT ';' AS "a;b";`,
    '-- c;d\nSELECT 2 /* ; */;',
  ])
})

test.each(['', ' ; -- nothing\n /* at all */ ;', 'SELECT 1;;', 'SELECT 1; -- and that was all'])(
  'the query "%s" ends without a statement',
  (query) => {
    expect(splitStatements(query).at(-1)).toMatchObject({
      kind: 'refused',
      refusal: expect.stringContaining('did not contain'),
    })
  },
)

test('an empty statement before another is left out', () => {
  expect(texts(';; SELECT 1;\n')).toEqual(['SELECT 1;'])
})

test("a trigger's body belongs to its statement", () => {
  const trigger = `CREATE TRIGGER t AFTER INSERT ON a BEGIN
    UPDATE a SET x = CASE WHEN x = 1 THEN 2 ELSE 3 END; DELETE FROM b; END`
  expect(texts(`${trigger}; SELECT 1`)).toEqual([`${trigger};`, 'SELECT 1'])
})

test.each([
  ['SELECT ?, ?', [undefined, undefined]],
  ["SELECT '?', ?", [undefined]],
  ['SELECT ?2, ?1, ?2', ['?1', '?2']],
  ['SELECT ?2', [undefined, '?2']],
  ['SELECT 1 -- ?', []],
  ['SELECT :a, ?, @b, :a', [':a', undefined, '@b']],
])('%s takes its placeholders as parameters', (query, parameters) => {
  expect(splitStatements(query)[0]?.parameters).toEqual(parameters)
})

test.each([
  ['select 1', 'read'],
  ['WITH a AS (SELECT 1) SELECT replace(x, 1, 2) FROM a', 'read'],
  ['WITH a AS (SELECT 1) DELETE FROM b', 'write'],
  ['replace into a values (1)', 'write'],
  ['CREATE TABLE a (x)', 'schema'],
  ['pragma table_info(a)', 'read'],
  ["SELECT * FROM pragma_table_info('a')", 'read'],
])('%s is of kind %s', (query, kind) => {
  expect(splitStatements(query)[0]?.kind).toBe(kind)
})

test.each([
  'BEGIN',
  'release x',
  'VACUUM',
  'attach "a" as b',
  'CREATE TEMP TABLE a (x)',
  'PRAGMA user_version = 1',
  'SELECT * FROM pragma_page_count',
  'SELECT * FROM _cf_KV',
])('%s is refused', (query) => {
  expect(splitStatements(query)[0]?.kind).toBe('refused')
})
