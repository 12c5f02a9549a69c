import { expect, test } from 'vitest'
import { addressOf, type Route, routeOf } from './route.ts'

const IDS = [
  'plain',
  'a/b:c%',
  'new',
  'edit',
  'x/edit',
  '%2e%2e',
  '%',
  '#/new',
  '?a=b&c',
  '<img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  '__proto__',
  ' ',
  'two\nlines',
  'a\\b\u202Egnp.exe',
  'ü 日本 🦊',
  'x'.repeat(200),
]

test.each(IDS)('the address of %j leads back to it, to look at and to edit', (id) => {
  for (const route of [
    { page: 'schedule', id },
    { page: 'edit', id },
  ] satisfies Route[]) {
    const address = addressOf(route)
    // As the browser makes it of what it is given.
    const { hash, origin } = new URL(address, 'https://ops.example/console/')
    expect(routeOf(hash)).toEqual(route)
    expect(origin).toBe('https://ops.example')
  }
})

test.each<[string, Route]>([
  ['', { page: 'list' }],
  ['#/', { page: 'list' }],
  ['#/new', { page: 'create' }],
  ['#/schedules/', { page: 'list' }],
  ['#/schedules/%zz', { page: 'list' }],
  ['#/schedules/a/delete', { page: 'list' }],
  ['#/nowhere', { page: 'list' }],
])('the address %j', (hash, route) => {
  expect(routeOf(hash)).toEqual(route)
})
