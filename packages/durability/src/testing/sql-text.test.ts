import { expect, test } from 'vitest'
import { splitStatements } from './sql-text.ts'

const texts = (query: string) => splitStatements(query).map((statement) => statement.text)

test('semicolons separate statements, but not inside literals, names and comments', () => {
  expect(texts(`SELECT ';' AS "a;b"; -- c;d\nSELECT 2 /* ; */;`)).toEqual([
    `SELECT ';' AS "a;b"`,
    '-- c;d\nSELECT 2 /* ; */',
  ])
})

test('a query of comments and blanks holds no statement', () => {
  expect(texts(' ; -- nothing\n /* at all */ ;')).toEqual([])
})

test("a trigger's body belongs to its statement", () => {
  const trigger = `CREATE TRIGGER t AFTER INSERT ON a BEGIN
    UPDATE a SET x = CASE WHEN x = 1 THEN 2 ELSE 3 END; DELETE FROM b; END`
  expect(texts(`${trigger}; SELECT 1`)).toEqual([trigger, 'SELECT 1'])
})

test.each([
  ['SELECT ?, ?', 2],
  ["SELECT '?', ?", 1],
  ['SELECT ?2, ?1, ?2', 2],
  ['SELECT 1 -- ?', 0],
])('%s takes its placeholders as parameters', (query, parameters) => {
  expect(splitStatements(query)[0]?.parameters).toBe(parameters)
})

test.each([
  ['select 1', 'read'],
  ['WITH a AS (SELECT 1) SELECT replace(x, 1, 2) FROM a', 'read'],
  ['WITH a AS (SELECT 1) DELETE FROM b', 'write'],
  ['replace into a values (1)', 'write'],
  ['CREATE TABLE a (x)', 'schema'],
  ['BEGIN', 'control'],
  ['VACUUM', 'control'],
])('%s is of kind %s', (query, kind) => {
  expect(splitStatements(query)[0]?.kind).toBe(kind)
})
