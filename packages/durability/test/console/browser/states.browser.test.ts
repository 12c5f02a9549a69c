import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browserTests, failOnce, SIZES, shoot, view } from './browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const tests = browserTests(async (worker) => {
  const { call } = worker
  const put = (id: string, definition: object) =>
    call('PUT', `/schedules/${encodeURIComponent(id)}`, definition)
  await put('weekly-report', {
    ...{
      workflow: 'quick',
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      jitter: '5m',
      tags: ['plan-a', 'mail'],
    },
    ...{
      namespace: 'acme',
      note: 'Figures for the board',
      input: { to: 'board@example.com' },
      overlap: 'skip',
    },
  })
  await put('asleep', { workflow: 'quick', every: '1h', paused: true, note: 'Back in September' })
  await put('across-clock-change', {
    ...{ workflow: 'slow', cron: '30 2 * * *', timezone: 'Europe/Berlin' },
    ...{ startAt: Date.UTC(new Date().getUTCFullYear() + 1, 2, 22) },
  })
  await put('overlapping', { workflow: 'slow', every: '2s', overlap: 'skip' })
  await put('done', { workflow: 'quick', every: '1s', maxRuns: 5, tags: ['once'] })
  await put('tenant/4711:import?x=100% 日本', { workflow: 'quick', every: '90m' })
  await failOnce(worker, 'mail-digest', {
    every: '1h',
    input: 'The mail server refused the message: mailbox full',
  })
})

interface State {
  readonly name: string
  readonly path?: string
  readonly token?: string | null
  /** What is done to the page before it is opened. */
  readonly before?: (page: Page) => Promise<unknown>
  /** Brings the page into the state, and waits until it is there. */
  readonly reach: (page: Page) => Promise<unknown>
}

const refuse = (status: number, message: string) => (page: Page) =>
  page.route('**/console/schedules?*', (route) =>
    route.fulfill({ status, json: { error: { name: 'Error', message } } }),
  )

const STATES: readonly State[] = [
  {
    name: 'list',
    reach: (page) => page.locator('.state .error').first().waitFor(),
  },
  {
    name: 'popover',
    async reach(page) {
      await page.locator('.chip').click()
      await page.getByRole('dialog').locator('.last-error').first().waitFor()
    },
  },
  {
    name: 'nothing-matches',
    async reach(page) {
      await page.getByRole('searchbox').fill('there is no such thing')
      await page.getByText('Nothing matches.').waitFor()
    },
  },
  {
    name: 'schedule-failing',
    path: '#/schedules/mail-digest',
    async reach(page) {
      await page.getByText('The last run failed').waitFor()
      await page.getByRole('region', { name: 'Decisions' }).waitFor()
      await page.locator('.next').first().waitFor()
    },
  },
  {
    name: 'schedule-clock-change',
    path: '#/schedules/across-clock-change',
    reach: (page) => page.getByText('clocks forward').waitFor(),
  },
  {
    name: 'schedule-overlapping',
    path: '#/schedules/overlapping',
    async reach(page) {
      await page.getByText('Skipped: overlap').first().waitFor()
      await page.locator('.durations .complete').first().waitFor()
    },
  },
  {
    name: 'schedule-paused',
    path: '#/schedules/asleep',
    reach: (page) => page.locator('.asleep').first().waitFor(),
  },
  {
    name: 'schedule-finished',
    path: '#/schedules/done',
    reach: (page) => page.getByText('It is finished').waitFor(),
  },
  {
    name: 'schedule-unknown',
    path: '#/schedules/nothing',
    reach: (page) => page.getByText('There is no such schedule').waitFor(),
  },
  {
    name: 'dialog',
    path: '#/schedules/weekly-report',
    async reach(page) {
      await page.getByRole('button', { name: 'Pause', exact: true }).click()
      await page.getByRole('dialog').getByRole('textbox').fill('Holidays')
    },
  },
  {
    name: 'toasts',
    path: '#/schedules/weekly-report',
    async before(page) {
      await page.route('**/trigger', (route) =>
        route.fulfill({ status: 502, json: { error: { name: 'Error', message: 'The queue is full' } } }),
      )
    },
    async reach(page) {
      await page.getByRole('button', { name: 'Run now' }).click()
      await page.locator('.toast.bad').waitFor()
    },
  },
  {
    name: 'editor-error',
    path: '#/new',
    async reach(page) {
      await page.getByRole('textbox', { name: 'Id' }).fill('nightly')
      await page.getByRole('combobox', { name: 'Workflow' }).fill('quick')
      await page.getByRole('textbox', { name: 'Cron' }).fill('0 25 * * *')
      await page.locator('.field.wrong').waitFor()
    },
  },
  {
    name: 'editor-full',
    path: '#/schedules/weekly-report/edit',
    reach: (page) => page.locator('.preview li').nth(9).waitFor(),
  },
  { name: 'sign-in', token: null, reach: (page) => page.getByLabel('Token').waitFor() },
  {
    name: 'sign-in-refused',
    token: 'not-the-token-of-this-console',
    reach: (page) => page.getByRole('alert').waitFor(),
  },
  {
    name: 'forbidden',
    before: refuse(403, 'This token does not allow schedules.list'),
    reach: (page) => page.getByRole('heading', { name: 'You may not see' }).waitFor(),
  },
  {
    name: 'empty',
    before: (page) =>
      page.route('**/console/schedules?*', (route) =>
        route.fulfill({ json: { schedules: [], cursor: null } }),
      ),
    reach: (page) => page.getByText('No schedules yet').waitFor(),
  },
  {
    name: 'loading',
    before: (page) => page.route('**/console/schedules?*', () => {}),
    reach: (page) => page.getByText('Reading the schedules').waitFor(),
  },
  {
    name: 'lost',
    async reach(page) {
      await page.getByRole('link', { name: 'weekly-report' }).waitFor()
      await page.route('**/console/schedules?*', (route) => route.abort())
      await page.getByText('Connection lost').waitFor()
    },
  },
  {
    name: 'shard-failed',
    before: (page) =>
      page.route('**/console/schedules?*', async (route) => {
        const response = await route.fetch()
        const answer = (await response.json()) as object
        await route.fulfill({ json: { ...answer, failed: ['schedules-1 did not answer within 5000 ms'] } })
      }),
    reach: (page) => page.getByText('Not everything can be shown').waitFor(),
  },
]

interface Axe {
  run(options: object): Promise<AxeResults>
}

/** Faults that shut somebody out, each with where it is. What the colours have no part in is the same in both themes. */
async function faultsOf(page: Page, theme: 'light' | 'dark'): Promise<readonly string[]> {
  if (theme === 'light') await page.evaluate(AXE)
  const options = theme === 'light' ? {} : { runOnly: ['color-contrast'] }
  const { violations } = await page.evaluate(
    (options) => (globalThis as unknown as { axe: Axe }).axe.run(options),
    options,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`))
}

describe.each(Object.keys(SIZES) as (keyof typeof SIZES)[])('on a %s', (size) => {
  test.each(STATES)('the state $name is seen in both themes, fits, and shuts nobody out', async (state) => {
    const { page } = await view(tests.browser, 'about:blank', {
      size,
      ...(state.token !== undefined && { token: state.token }),
    })
    await state.before?.(page)
    await page.goto(`${tests.worker.console}/${state.path ?? ''}`)
    await state.reach(page)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await shoot(page, `${state.name}-${size}-${theme}`)
      expect(await faultsOf(page, theme)).toEqual([])
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})
