import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browserTests, failOnce, SIZES, type Viewer, view } from './browser.ts'

const MARKUP = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
const ATTRIBUTE = '" onmouseover="window.pwned=1" autofocus onfocus="window.pwned=1'
const RTL = 'invoice\u202Egnp.exe\u2066\u200F'

/** Whatever people could type to do harm, in every text of a schedule. */
const IDS = [
  `${MARKUP}`,
  `${ATTRIBUTE}'>\`\${1}`,
  `javascript:alert(1)`,
  RTL,
  '{{constructor.constructor("window.pwned=1")()}}',
  `"'</title><svg onload=window.pwned=1>\n--><![CDATA[`,
  'x'.repeat(200),
]
const LONG_NOTE = `${MARKUP} ${'n'.repeat(4_096 - MARKUP.length - 1)}`
const LONG_ERROR = `${MARKUP} ${ATTRIBUTE} ${RTL} ${'e'.repeat(10_000)}`

const definitionOf = (id: string) => ({
  ...{ workflow: `${id.slice(0, 100)}${MARKUP}`, cron: '0 9 * * *', note: LONG_NOTE },
  ...{ tags: [MARKUP, ATTRIBUTE, RTL, 't'.repeat(256)], namespace: MARKUP, input: { [MARKUP]: ATTRIBUTE } },
  ...{ searchAttributes: { [ATTRIBUTE]: RTL }, concurrency: { key: MARKUP, limit: 1 } },
})
const at = (id: string) => `/schedules/${encodeURIComponent(id)}`

const tests = browserTests(async (worker) => {
  for (const id of IDS) await worker.call('PUT', at(id), definitionOf(id))
  await failOnce(worker, `${MARKUP} failing`, { every: '1h', input: LONG_ERROR, note: LONG_NOTE })
})

/** A viewer who is told of anything that came of the text. */
async function open(path: string, options: Parameters<typeof view>[2] = {}): Promise<Viewer> {
  const viewer = await view(tests.browser, `${tests.worker.console}/${path}`, options)
  viewer.page.on('dialog', (dialog) => {
    viewer.complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return viewer
}

async function expectHarmless({ page, complaints }: Viewer): Promise<void> {
  const made = await page.evaluate(() => ({
    pwned: (globalThis as { pwned?: unknown }).pwned ?? null,
    elements: document.querySelectorAll(
      '#app :is(img, script, iframe, object, embed, svg[onload], base, link)',
    ).length,
    handlers: [...document.querySelectorAll('*')].filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith('on')),
    ).length,
    links: [...document.querySelectorAll('a')].filter(({ href }) => !href.startsWith(location.origin)).length,
  }))
  expect(made).toEqual({ pwned: null, elements: 0, handlers: 0, links: 0 })
  // A refusal of the server is one of the console's own answers.
  expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
}

/** Nothing is wider than the page. */
async function expectToFit(page: Page): Promise<void> {
  const { width, seen } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    seen: innerWidth,
  }))
  expect(width).toBeLessThanOrEqual(seen)
}

describe.each(Object.keys(SIZES) as (keyof typeof SIZES)[])('hostile text on a %s', (size) => {
  test('is text in the table and in the popover', async () => {
    const viewer = await open('', { size })
    const { page } = viewer
    await page.getByRole('link', { name: IDS[0] ?? '', exact: true }).waitFor()
    await page.locator('.state .error').getByText('onerror').waitFor()
    await expectToFit(page)
    await expectHarmless(viewer)
    // Filled with the names that are there.
    expect(await page.getByLabel('Filter by namespace').locator('option').allTextContents()).toContain(MARKUP)
    await page.locator('.chip').click()
    const popover = page.getByRole('dialog')
    await popover.getByRole('listitem').nth(7).waitFor()
    const shown = await popover.locator('a.id').allTextContents()
    expect(shown).toEqual(expect.arrayContaining(IDS))
    await popover.locator('.error').getByText('onerror').waitFor()
    const fits = await popover.evaluate((element) => element.scrollWidth <= element.clientWidth)
    expect(fits).toBe(true)
    await expectToFit(page)
    await expectHarmless(viewer)
  })

  test('is text on its page, in the title, in toasts, in dialogs and in the editor', async () => {
    const viewer = await open('', { size })
    const { page } = viewer
    for (const id of [`${MARKUP} failing`, ...IDS]) {
      await page.evaluate(
        (hash) => {
          location.hash = hash
        },
        `#/schedules/${encodeURIComponent(id)}`,
      )
      await page
        .getByRole('region', { name: /Runs|Decisions/ })
        .first()
        .or(page.getByText('It has not run yet.'))
        .first()
        .waitFor()
      const heading = await page.getByRole('heading', { level: 1 }).locator('.text').textContent()
      expect(heading).toBe(id)
      // The browser makes one blank of several in a title.
      expect(await page.title()).toBe(`${id.slice(0, 80)} · Schedules`.replace(/\s+/g, ' ').trim())
      await expectToFit(page)
    }
    await tests.worker.call('PUT', at(IDS.at(-1) ?? ''), { ...definitionOf(IDS.at(-1) ?? ''), paused: false })
    await page.getByText('4,096 characters').click()
    expect(await page.getByText(LONG_NOTE).count()).toBe(1)
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.locator('.toast').first().waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill(MARKUP)
    await expectToFit(page)
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await page.locator('.toast').getByText('Paused').waitFor()
    await page.getByText(MARKUP, { exact: true }).first().waitFor()
    await expectToFit(page)
    await expectHarmless(viewer)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    const note = page.getByRole('textbox', { name: 'Note' })
    expect(await note.inputValue()).toBe(MARKUP)
    await note.fill(LONG_NOTE)
    await page.getByRole('textbox', { name: 'Cron' }).fill(MARKUP)
    await page.locator('.field.wrong [role=alert]').waitFor()
    await page
      .getByRole('textbox', { name: 'Time zone' })
      .or(page.getByRole('combobox', { name: 'Time zone' }))
      .fill(ATTRIBUTE)
    await page.locator('.field.wrong [role=alert]').waitFor()
    await expectToFit(page)
    await expectHarmless(viewer)
  })

  test('of errors with 10,000 characters is cut, and shown in full when asked for', async () => {
    const viewer = await open('', { size })
    const { page, context } = viewer
    const id = `${MARKUP} failing`
    const path = at(id)
    const schedule = (await (await tests.worker.call('GET', path)).json()) as object
    const broken = { ...schedule, lastError: LONG_ERROR }
    await context.route('**/console/schedules?*', (route) =>
      route.fulfill({ json: { schedules: [broken], cursor: null } }),
    )
    await context.route(`**/console${path}`, (route) => route.fulfill({ json: broken }))
    await context.route(`**/console${path}/trigger`, (route) =>
      route.fulfill({ status: 502, json: { error: { name: 'Error', message: LONG_ERROR } } }),
    )
    await page.reload()
    await page.getByRole('button', { name: `Run now: ${id}` }).click()
    await page.locator('.toast.bad').waitFor()
    await expectToFit(page)
    await page.getByRole('link', { name: id }).click()
    const more = page.getByRole('button', { name: /^All 10,\d+ characters/ }).first()
    await more.click()
    await page.getByText(`The last failure: ${LONG_ERROR}`, { exact: true }).waitFor()
    await expectToFit(page)
    await expectHarmless(viewer)
  })
})
