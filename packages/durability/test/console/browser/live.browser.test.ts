import { describe, expect, test } from 'vitest'
import { browserTests, view } from './browser.ts'

const tests = browserTests(async ({ call }) => {
  await call('PUT', '/schedules/daily', { workflow: 'quick', cron: '0 9 * * *' })
})

const open = (path = '') => view(tests.browser, `${tests.worker.console}/${path}`)

describe('while the page is open', () => {
  test('a schedule of another viewer shows up, fires, changes and goes, without a reload', async () => {
    const { page, complaints } = await open()
    await page.getByRole('link', { name: 'daily' }).waitFor()
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
    const { call } = tests.worker
    await call('PUT', '/schedules/ticking', { workflow: 'quick', every: '2s', note: 'first' })
    const row = page.locator('.scroller .row').filter({ has: page.getByRole('link', { name: 'ticking' }) })
    await row.waitFor()
    await row
      .getByText(/sec\. ago|now/)
      .first()
      .waitFor()
    await call('POST', '/schedules/ticking/pause', {})
    await row.getByText('paused').waitFor()
    await call('POST', '/schedules/ticking/resume', {})
    await row.getByText('fine').waitFor()
    await call('DELETE', '/schedules/ticking')
    await row.waitFor({ state: 'detached' })
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true)
    expect(complaints).toEqual([])
  })

  test('a fire shows on the page of its schedule: run, decision, duration', async () => {
    const { call } = tests.worker
    await call('PUT', '/schedules/page', { workflow: 'quick', cron: '0 9 * * *' })
    const { page } = await open('#/schedules/page')
    await page.getByText('It has not run yet.').waitFor()
    await call('PUT', '/schedules/page', { workflow: 'quick', every: '1s', maxRuns: 2 })
    await page.getByRole('region', { name: 'Timeline' }).locator('.complete').nth(1).waitFor()
    await page.getByRole('region', { name: 'Decisions' }).getByText('Fired').nth(1).waitFor()
    await page.getByRole('img', { name: /^2 runs: median/ }).waitFor()
    await page.getByText('It is finished: it has fired 2 times, as maxRuns says.').waitFor()
    await call('DELETE', '/schedules/page')
    await page.getByText('There is no such schedule').waitFor()
  })
})

describe('a connection', () => {
  test('that is lost is shown, with what was read, and heals by itself', async () => {
    const { page } = await open()
    await page.getByRole('link', { name: 'daily' }).waitFor()
    await page.route('**/console/schedules?*', (route) => route.abort())
    await page.getByRole('alert').getByText('Connection lost: The server cannot be reached').waitFor()
    expect(await page.getByRole('link', { name: 'daily' }).isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Pause daily' }).waitFor()
    await page.unroute('**/console/schedules?*')
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('that is lost is said once on the page of a schedule', async () => {
    const { page } = await open('#/schedules/daily')
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    await page.route('**/console/*?*', (route) => route.abort())
    await page.route('**/console/schedules/**', (route) => route.abort())
    await page.getByRole('alert').getByText('Connection lost').waitFor()
    expect(await page.getByText('cannot be reached').count()).toBe(1)
    expect(await page.getByRole('region', { name: 'Timeline' }).isVisible()).toBe(true)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('that was never there is shown beside what is being read', async () => {
    const { page } = await open('#/new')
    await page.route('**/console/schedules?*', (route) => route.abort())
    await page.reload()
    await page.getByRole('alert').getByText('Connection lost').waitFor()
    await page.getByRole('link', { name: 'Schedules' }).click()
    await page.getByText('Reading the schedules').waitFor()
    await page.unroute('**/console/schedules?*')
    await page.getByRole('link', { name: 'daily' }).waitFor()
  })

  test('an action that gets no answer says so, and can be done again', async () => {
    const { page } = await open()
    await page.route('**/pause', (route) => route.abort())
    await page.getByRole('button', { name: 'Pause daily' }).click()
    await page.locator('.toast.bad').getByText('The server cannot be reached').waitFor()
    await page.unroute('**/pause')
    await page.getByRole('button', { name: 'Pause daily' }).click()
    await page.getByRole('button', { name: 'Resume daily' }).click()
    await page.getByRole('button', { name: 'Pause daily' }).waitFor()
  })
})

test('a shard that does not answer is named, and the rest is shown', async () => {
  const { page } = await open()
  await page.getByRole('link', { name: 'daily' }).waitFor()
  let isSilent = true
  await page.route('**/console/schedules?*', async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as object
    return isSilent
      ? route.fulfill({ json: { ...answer, schedules: [], failed: ['schedules-1 does not answer'] } })
      : route.fulfill({ response })
  })
  await page
    .getByRole('alert')
    .getByText('Not everything can be shown: schedules-1 does not answer')
    .waitFor()
  expect(await page.getByRole('link', { name: 'daily' }).isVisible()).toBe(true)
  isSilent = false
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await page.unrouteAll({ behavior: 'wait' })
})

test('a token that ends while the page is open leads to the form for another', async () => {
  const { page } = await open('#/schedules/daily')
  await page.getByRole('heading', { name: 'daily' }).waitFor()
  await page.route('**/console/schedules?*', (route) =>
    route.fulfill({
      status: 401,
      json: { error: { name: 'UnauthenticatedError', message: 'It has ended' } },
    }),
  )
  await page.getByRole('alert').getByText('It has ended').waitFor()
  expect(await page.getByRole('heading', { name: 'daily' }).count()).toBe(0)
  await page.unroute('**/console/schedules?*')
  await page.getByLabel('Token').fill('for-the-browser-tests')
  await page.getByRole('button', { name: 'Sign in' }).click()
  // Where the viewer was before.
  await page.getByRole('heading', { name: 'daily' }).waitFor()
})

const refuse = (status: number, message: string) => ({
  status,
  json: { error: { name: 'Error', message } },
})

describe('what is typed', () => {
  test('outlasts a token that ends, and even a wrong one after it', async () => {
    const { page } = await open('#/schedules/daily/edit')
    const note = page.getByRole('textbox', { name: 'Note' })
    await note.fill('half a sentence')
    await page.route('**/console/schedules?*', (route) => route.fulfill(refuse(401, 'It has ended')))
    await page.getByRole('alert').getByText('It has ended').waitFor()
    expect(await note.count()).toBe(0)
    for (const token of ['not-the-token-of-this-console', 'for-the-browser-tests']) {
      await page.getByLabel('Token').waitFor()
      if (token === 'for-the-browser-tests') await page.unroute('**/console/schedules?*')
      await page.getByLabel('Token').fill(token)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await note.waitFor()
    expect(await note.inputValue()).toBe('half a sentence')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    expect(await page.locator('textarea').count()).toBe(0)
  })

  test('outlasts a refusal, which is said and heals by itself', async () => {
    const { page } = await open('#/schedules/daily/edit')
    const note = page.getByRole('textbox', { name: 'Note' })
    await note.fill('half a sentence')
    await page.route('**/console/schedules?*', (route) =>
      route.fulfill(refuse(403, 'The keys are not there')),
    )
    await page.getByRole('alert').getByText('Refused: The keys are not there').waitFor()
    expect(await note.inputValue()).toBe('half a sentence')
    await page.unroute('**/console/schedules?*')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await note.inputValue()).toBe('half a sentence')
  })
})

describe('on the page of a schedule', () => {
  test('each part that is refused says so in its place, and the others are shown', async () => {
    const { page } = await open('#/')
    await page.getByRole('link', { name: 'daily' }).waitFor()
    await page.route('**/console/runs?*', (route) => route.fulfill(refuse(403, 'No runs')))
    await page.route('**/console/schedules/daily', (route) => route.fulfill(refuse(403, 'No get')))
    await page.route('**/console/schedules/daily/history?*', (route) =>
      route.fulfill(refuse(403, 'No history')),
    )
    await page.getByRole('link', { name: 'daily' }).click()
    await page.getByRole('heading', { name: 'daily' }).waitFor()
    for (const text of ['The runs may not be seen: No runs', 'The decisions may not be seen: No history']) {
      await page.getByText(text).first().waitFor()
    }
    await page.getByText('The schedule by itself may not be seen: No get').waitFor()
    await page.getByRole('region', { name: 'Timeline' }).locator('.next').nth(9).waitFor()
    expect(await page.getByText('has not run yet').count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('no runs from a shard that is silent are not none', async () => {
    const { page } = await open('#/')
    await page.route('**/console/runs?*', (route) =>
      route.fulfill({ json: { runs: [], cursor: null, failed: ['schedules-1 does not answer'] } }),
    )
    await page.getByRole('link', { name: 'daily' }).click()
    await page.getByText('The runs could not be read: schedules-1 does not answer').first().waitFor()
    expect(await page.getByText('has not run yet').count()).toBe(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})

test('the page works under its own policy, which allows nothing but its assets', async () => {
  const asked: string[] = []
  const { page, complaints } = await open('#/schedules/daily')
  page.on('request', (request) => asked.push(request.url()))
  const response = await page.reload()
  expect(response?.headers()['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'/,
  )
  await page.getByRole('region', { name: 'Timeline' }).waitFor()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('complementary', { name: 'The next times' }).getByRole('listitem').first().waitFor()
  await page.locator('.chip').click()
  await page.getByRole('dialog').getByRole('link', { name: 'daily' }).waitFor()
  expect(complaints).toEqual([])
  const { origin } = new URL(tests.worker.url)
  expect(new Set(asked.map((url) => new URL(url).origin))).toEqual(new Set([origin]))
})
