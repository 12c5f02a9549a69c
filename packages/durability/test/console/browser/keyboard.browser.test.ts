import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { browserTests, view } from './browser.ts'

const tests = browserTests(async ({ call }) => {
  await call('PUT', '/schedules/first', { workflow: 'quick', cron: '0 9 * * *' })
  await call('PUT', '/schedules/second', { workflow: 'quick', every: '1h', paused: true })
})

/** Goes on with Tab until what has the focus is called so: a name of a control, or a text. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    const focused = await focusedName(page)
    if (focused.name === name) {
      expect(focused.isVisible, `the focus on ${name} is seen`).toBe(true)
      return
    }
  }
  throw new Error(`Tab does not lead to "${name}"`)
}

async function focusedName(page: Page): Promise<{ readonly name: string; readonly isVisible: boolean }> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (element === null) return { name: '', isVisible: false }
    const label = 'labels' in element ? (element.labels as NodeListOf<HTMLElement> | null)?.[0] : undefined
    const name = element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent ?? ''
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    return { name: name.trim(), isVisible: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1 }
  })
}

const until = (page: Page, name: string) =>
  expect.poll(async () => (await focusedName(page)).name, { timeout: 10_000 }).toBe(name)

test('whoever has no mouse signs in, and finds the schedules', async () => {
  const { page } = await view(tests.browser, `${tests.worker.console}/`, { token: null })
  await page.getByLabel('Token').waitFor()
  await until(page, 'Token')
  await page.keyboard.type('for-the-browser-tests')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'first' }).waitFor()
  await tabTo(page, 'Search')
  await page.keyboard.type('seco')
  await page.getByText('1 of 2 schedules').waitFor()
  await tabTo(page, 'Filter by state')
  await page.keyboard.type('paused')
  expect(await page.getByLabel('Filter by state').inputValue()).toBe('paused')
  await tabTo(page, 'second')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'second' }).waitFor()
})

test('the popover opens, acts and closes by keyboard, and the focus goes back to the chip', async () => {
  const { page } = await view(tests.browser, `${tests.worker.console}/`)
  await page.getByRole('link', { name: 'first' }).waitFor()
  await tabTo(page, '2 schedules · 1 paused')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('link', { name: 'first' }).waitFor()
  await tabTo(page, 'first')
  await tabTo(page, 'Pause first')
  await page.keyboard.press('Enter')
  await until(page, 'Resume first')
  await page.keyboard.press('Enter')
  await until(page, 'Pause first')
  await tabTo(page, 'Run now: first')
  await page.keyboard.press('Space')
  await page.locator('.toast').getByText('Started first').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await until(page, '2 schedules · 1 paused')
})

test('a row acts by keyboard, and the focus stays in the table', async () => {
  const { page } = await view(tests.browser, `${tests.worker.console}/`)
  await page.getByRole('link', { name: 'first' }).waitFor()
  await tabTo(page, 'Pause first')
  await page.keyboard.press('Enter')
  await until(page, 'Resume first')
  await page.keyboard.press('Enter')
  await until(page, 'Pause first')
  await page.keyboard.press('Shift+Tab')
  expect((await focusedName(page)).name).toBe('first')
})

test('a dialog holds the focus, gives it back on Escape, and does what it asks', async () => {
  const { page } = await view(tests.browser, `${tests.worker.console}/#/schedules/first`)
  await page.getByRole('heading', { name: 'first' }).waitFor()
  await tabTo(page, 'Pause')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await until(page, 'A note, if you like')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await until(page, 'Pause')
  await page.keyboard.press('Enter')
  await until(page, 'A note, if you like')
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Enter')
  await page.getByText('by keyboard').first().waitFor()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await until(page, 'Resume')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
})

test('a schedule is created, changed and deleted by keyboard', async () => {
  const { page } = await view(tests.browser, `${tests.worker.console}/`)
  await page.getByRole('link', { name: 'first' }).waitFor()
  await tabTo(page, 'New schedule')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'New schedule' }).waitFor()
  await tabTo(page, 'Id')
  await page.keyboard.type('typed')
  await tabTo(page, 'Workflow')
  await page.keyboard.type('quick')
  // Arrows choose among the two cadences.
  await tabTo(page, 'Cron')
  await page.keyboard.press('ArrowDown')
  await tabTo(page, 'Every')
  await page.keyboard.type('never')
  await page.keyboard.press('Enter')
  await page.locator('.field.wrong').waitFor()
  await until(page, 'Every')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('15m')
  await page.getByRole('complementary').getByRole('listitem').nth(9).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'typed' }).waitFor()
  await tabTo(page, 'Edit')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Edit typed' }).waitFor()
  await tabTo(page, 'Policies, bounds and labels')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Fires at most')
  await page.keyboard.type('3')
  await tabTo(page, 'Save')
  await page.keyboard.press('Enter')
  await page.getByText('0 of 3').waitFor()
  await tabTo(page, 'Delete')
  await page.keyboard.press('Enter')
  await until(page, 'Cancel')
  await tabTo(page, 'Delete')
  await page.keyboard.press('Enter')
  await page.locator('.toast').getByText('Deleted typed').waitFor()
  await page.getByRole('link', { name: 'first' }).waitFor()
})

test('what scrolls is reached by keyboard', async () => {
  const { page } = await view(tests.browser, `${tests.worker.console}/#/schedules/first`)
  await page.locator('.stop').first().waitFor()
  await tabTo(page, 'Timeline')
  const scrolled = () => page.evaluate(() => document.querySelector('.rail')?.scrollLeft ?? 0)
  const before = await scrolled()
  await page.keyboard.press('ArrowRight')
  await expect.poll(scrolled).toBeGreaterThan(before)
})

test.each(['mover', 'stayer'])('when rows change places, the focus stays in that of %s', async (focused) => {
  const { call } = tests.worker
  const put = (id: string, every: string) => call('PUT', `/schedules/${id}`, { workflow: 'quick', every })
  const ids = async () =>
    (await page.locator('.scroller .id').allTextContents()).filter((id) => /mover|stayer/.test(id))
  const placed = (order: readonly string[]) => expect.poll(ids, { timeout: 10_000 }).toEqual(order)
  await put('mover', '1h')
  await put('stayer', '24h')
  const { page } = await view(tests.browser, `${tests.worker.console}/`)
  await page.getByRole('link', { name: 'mover' }).waitFor()
  await tabTo(page, `Pause ${focused}`)
  await put('mover', '72h')
  await placed(['stayer', 'mover'])
  await until(page, `Pause ${focused}`)
  await put('mover', '1h')
  await placed(['mover', 'stayer'])
  await until(page, `Pause ${focused}`)
  for (const id of ['mover', 'stayer']) await call('DELETE', `/schedules/${id}`)
})
