import { describe, expect, test } from 'vitest'
import { browserTests, failOnce, LOOKING_TOKEN, TOKEN, view } from './browser.ts'

const tests = browserTests(async (worker) => {
  const { call } = worker
  const put = (id: string, definition: object) => call('PUT', `/schedules/${id}`, definition)
  await put('report', {
    ...{ workflow: 'quick', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', tags: ['plan-a'] },
    ...{ namespace: 'acme', note: 'The weekly figures', jitter: '5m' },
  })
  await put('asleep', { workflow: 'quick', every: '1h', paused: true, note: 'Back in September' })
  await put('over', { workflow: 'quick', every: '1h', maxRuns: 1, endAt: Date.now() + 3_600_001 })
  await failOnce(worker, 'broken', { every: '1h', input: 'the mail server refused it' })
})

const open = (path = '', options: Parameters<typeof view>[2] = {}) =>
  view(tests.browser, `${tests.worker.console}/${path}`, options)

describe('who signs in', () => {
  test('is told that a token is wrong, gets in with the right one, and out again', async () => {
    const { page } = await open('', { token: null })
    const input = page.getByLabel('Token')
    await input.fill('not-the-token-of-this-console')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('bearer token').waitFor()
    expect(await page.getByRole('table').count()).toBe(0)
    await input.fill(TOKEN)
    await input.press('Enter')
    await page.getByRole('link', { name: 'report' }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('main')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await input.waitFor()
    expect(await page.getByRole('link', { name: 'report' }).count()).toBe(0)
  })

  test('and may not see schedules is told so, and may try again', async () => {
    const { page } = await open('', { token: null })
    await page.getByLabel('Token').waitFor()
    let isForbidden = true
    await page.route('**/console/schedules?*', (route) =>
      isForbidden
        ? route.fulfill({ status: 403, json: { error: { name: 'ForbiddenError', message: 'Not for you' } } })
        : route.continue(),
    )
    await page.getByLabel('Token').fill(TOKEN)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'You may not see the schedules' }).waitFor()
    await page.getByText('Not for you').waitFor()
    isForbidden = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'report' }).waitFor()
  })

  test('for looking only is refused every action, in words, and nothing changes', async () => {
    const { page } = await open('', { token: LOOKING_TOKEN })
    await page.getByRole('button', { name: 'Pause report' }).click()
    await page.locator('.toast.bad').first().waitFor()
    await page.getByRole('button', { name: 'Run now: report' }).click()
    await page.getByRole('link', { name: 'report' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('dialog', { name: 'Delete this schedule' })
      .getByRole('button', { name: 'Delete' })
      .click()
    await page.locator('.toast.bad').nth(2).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Note' }).fill('not mine')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').waitFor()
    for (const text of await page.locator('.toast.bad, .notice.bad').allTextContents()) {
      expect(text).toMatch(/^This token does not allow schedules\./)
    }
    const report = await (await tests.worker.call('GET', '/schedules/report')).json()
    expect(report).toMatchObject({ paused: false, note: 'The weekly figures', revision: 1, lastRunId: null })
  })
})

describe('the chip', () => {
  test('counts, and its popover tells and does what a row can', async () => {
    const { page, complaints } = await open()
    const chip = page.locator('.chip')
    await chip.getByText('4 schedules · 1 paused').waitFor()
    await chip.click()
    const popover = page.getByRole('dialog', { name: 'Schedules, the soonest first' })
    const row = (id: string) =>
      popover.getByRole('listitem').filter({ has: page.getByRole('link', { name: id }) })
    await row('report').getByText('At 09:00, Monday through Friday, Europe/Berlin').waitFor()
    await row('report')
      .getByText(/Next in \d+ (hr|days?|min).* · last –/)
      .waitFor()
    await row('broken').getByText('the mail server refused it').waitFor()
    await row('broken').getByText('failing').waitFor()

    await row('report').getByRole('button', { name: 'Pause report' }).click()
    await row('report').getByText('paused').waitFor()
    await chip.getByText('2 paused').waitFor()
    await page.locator('.toast').getByText('Paused report').waitFor()
    // Also said to screen readers, and not covered by the popover.
    await page.getByRole('status').getByText('Paused report').waitFor()
    const toast = await page.locator('.toast').first().boundingBox()
    expect(
      await page.evaluate(({ x, y }) => document.elementFromPoint(x, y)?.closest('.toast') !== null, {
        x: (toast?.x ?? 0) + 5,
        y: (toast?.y ?? 0) + 5,
      }),
    ).toBe(true)

    await row('report').getByRole('button', { name: 'Resume report' }).click()
    await chip.getByText('1 paused').waitFor()
    await row('asleep').getByRole('button', { name: 'Run now: asleep' }).click()
    await page.locator('.toast').getByText('Started asleep').waitFor()
    const { runs } = (await (await tests.worker.call('GET', '/runs?scheduleId=asleep')).json()) as {
      runs: object[]
    }
    expect(runs).toHaveLength(1)
    await row('broken').getByRole('link', { name: 'broken' }).click()
    await page.getByRole('heading', { name: 'broken' }).waitFor()
    expect(await popover.isVisible()).toBe(false)
    expect(complaints).toEqual([])
  })
})

describe('the table', () => {
  test('is searched by all that a row holds, and filtered', async () => {
    const { page } = await open()
    const shown = async (count: number) => {
      await page
        .getByRole('status')
        .getByText(count === 4 ? '4 schedules' : `${count} of 4 schedules`, { exact: true })
        .waitFor()
      return page.locator('.table a.id').allTextContents()
    }
    const search = page.getByRole('searchbox', { name: 'Search' })
    for (const [text, ids] of [
      ['REPO', ['report']],
      ['weekly figures', ['report']],
      ['plan-a', ['report']],
      ['acme', ['report']],
      ['mail server', ['broken']],
      ['9 * * 1-5', ['report']],
      ['failing', ['broken']],
    ] as const) {
      await search.fill(text)
      expect(await shown(ids.length), text).toEqual(ids)
    }
    await search.fill('there is no such thing')
    await page.getByText('Nothing matches.').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    expect(await shown(4)).toEqual(expect.arrayContaining(['report', 'broken', 'asleep', 'over']))
    for (const [name, value, ids] of [
      ['namespace', 'acme', ['report']],
      ['workflow', 'failing', ['broken']],
      ['tag', 'plan-a', ['report']],
      ['state', 'paused', ['asleep']],
      ['state', 'failing', ['broken']],
    ] as const) {
      const choice = page.getByLabel(`Filter by ${name}`)
      await choice.selectOption(value)
      expect(await shown(ids.length), `${name} ${value}`).toEqual(ids)
      await choice.selectOption('')
    }
    // A look at one schedule leaves the filters as they are.
    await page.getByLabel('Filter by state').selectOption('paused')
    await page.getByRole('link', { name: 'asleep' }).click()
    await page.getByRole('link', { name: '← All schedules' }).click()
    expect(await shown(1)).toEqual(['asleep'])
  })
})

describe('the page of a schedule', () => {
  test('tells when, what became of it, how long it took and why it stands as it does', async () => {
    const { page, complaints } = await open('#/schedules/broken')
    await page.getByText('Every 1 hour').waitFor()
    await page.getByText('The last run failed: Error: the mail server refused it').waitFor()
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('errored').waitFor()
    await timeline.getByText('now', { exact: true }).waitFor()
    expect(await timeline.locator('.next').count()).toBe(10)
    await page.getByRole('img', { name: /^1 run: median/ }).waitFor()
    expect(await page.getByRole('region', { name: 'Runs' }).getByRole('row').count()).toBe(2)
    expect(await page.title()).toBe('broken · Schedules')
    expect(complaints).toEqual([])
  })

  test('says that it is paused, and when it would fire', async () => {
    const { page } = await open('#/schedules/asleep')
    await page.getByText('It is paused').waitFor()
    await page.getByText('Back in September').first().waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByText('if resumed now').first().waitFor()
  })

  test('of an id that is not there says so', async () => {
    const { page } = await open('#/schedules/not%2Fthere')
    await page.getByRole('heading', { name: 'not/there' }).waitFor()
    await page.getByText('There is no such schedule').waitFor()
  })
})

describe('a schedule', () => {
  test('is created from a cron that was wrong first, changed, paused with a note, run and deleted', async () => {
    const { page } = await open()
    await page.getByRole('link', { name: 'New schedule' }).click()
    await page.getByRole('textbox', { name: 'Id' }).fill('a/b:c% "new"')
    await page.getByRole('combobox', { name: 'Workflow' }).fill('quick')
    const cron = page.getByRole('textbox', { name: 'Cron' })
    await cron.fill('0 25 * * *')
    const error = page.locator('.field.wrong [role=alert]')
    await error.waitFor()
    expect(await error.textContent()).toMatch(/cron/)
    expect(await cron.getAttribute('aria-describedby')).toBe(await error.getAttribute('id'))
    expect(await cron.getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'cron')
    expect(page.url()).toMatch(/#\/new$/)

    await cron.fill('0 9 * * 1-5')
    await page.getByText('At 09:00, Monday through Friday, UTC').waitFor()
    await page.getByRole('complementary', { name: 'The next times' }).getByRole('listitem').nth(9).waitFor()
    expect(await error.count()).toBe(0)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'a/b:c% "new"' }).waitFor()
    await page.locator('.toast').getByText('Created a/b:c% "new"').waitFor()

    await page.getByRole('link', { name: 'Edit' }).click()
    expect(await page.getByRole('textbox', { name: 'Id' }).isEditable()).toBe(false)
    await page.getByRole('radio', { name: 'Interval' }).check()
    await page.getByRole('textbox', { name: 'Every' }).fill('15m')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Every 15 minutes').first().waitFor()

    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause this schedule' })
    await dialog.getByLabel('A note, if you like').fill('Holidays')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('Holidays').first().waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('region', { name: 'Runs' }).getByText('complete').waitFor()

    await page.getByRole('button', { name: 'Delete' }).click()
    const asked = page.getByRole('dialog', { name: 'Delete this schedule' })
    await asked.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'a/b:c% "new"' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await asked.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'report' }).waitFor()
    expect(await page.getByRole('link', { name: 'a/b:c%' }).count()).toBe(0)
  })

  test('that somebody else has changed while it was edited is not replaced unasked', async () => {
    const { call } = tests.worker
    const saved = async () => (await call('GET', '/schedules/shared')).json()
    await call('PUT', '/schedules/shared', { workflow: 'quick', every: '1h' })
    const { page } = await open('#/schedules/shared/edit')
    const note = page.getByRole('textbox', { name: 'Note' })
    await note.fill('mine')
    await call('PUT', '/schedules/shared', { workflow: 'quick', every: '2h' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').getByText('revision 1 was opened, and 2 is saved').waitFor()
    expect(await saved()).toMatchObject({ every: '2h', note: null, revision: 2 })

    await page.getByRole('button', { name: 'Begin again with what is saved' }).click()
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('[name=every]')?.value === '2h')
    await note.fill('mine')
    await call('PUT', '/schedules/shared', { workflow: 'quick', every: '3h' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Save over it' }).click()
    await page.locator('.toast').getByText('Saved shared').waitFor()
    expect(await saved()).toMatchObject({ every: '2h', note: 'mine', revision: 4 })
    await call('DELETE', '/schedules/shared')
  })

  test('is run once by an impatient double click on its page', async () => {
    const { page } = await open('#/schedules/asleep')
    const gate = Promise.withResolvers<void>()
    let starts = 0
    await page.route('**/trigger', async (route) => {
      starts += 1
      await gate.promise
      await route.fulfill({ json: {} })
    })
    const button = page.getByRole('button', { name: 'Run now' })
    await button.dblclick()
    await button.click({ force: true })
    gate.resolve()
    await page.locator('.toast').getByText('Started asleep').waitFor()
    expect(starts).toBe(1)
  })

  test('whose id is taken is not replaced', async () => {
    const { page } = await open('#/new')
    await page.getByRole('textbox', { name: 'Id' }).fill('asleep')
    await page.getByRole('combobox', { name: 'Workflow' }).fill('slow')
    await page.getByRole('textbox', { name: 'Cron' }).fill('0 9 * * *')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').getByText('asleep').waitFor()
    const asleep = await (await tests.worker.call('GET', '/schedules/asleep')).json()
    expect(asleep).toMatchObject({ workflow: 'quick', paused: true, note: 'Back in September', revision: 1 })
  })
})
