import { test } from 'vitest'
import { launch, shoot, startConsole, view } from './browser.ts'

test('a first look', async () => {
  const worker = await startConsole()
  const browser = await launch()
  try {
    const put = (id: string, body: object) => worker.call('PUT', `/schedules/${encodeURIComponent(id)}`, body)
    await put('morning brief/ada', {
      workflow: 'quick',
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      jitter: '10m',
      note: 'For Ada',
    })
    await put('heartbeat', { workflow: 'quick', every: '2s' })
    await put('broken', {
      workflow: 'failing',
      every: '3s',
      input: 'The mail server said no',
      pauseAfterFailures: 2,
    })
    await put('lost', { workflow: 'nobody', every: '3s', tags: ['a', 'b'] })
    await put('overlapping', { workflow: 'slow', every: '2s', overlap: 'skip' })
    await put('<script>alert(1)</script>', {
      workflow: 'quick',
      every: '1h',
      note: 'x'.repeat(3000),
      paused: true,
    })
    await new Promise((resolve) => setTimeout(resolve, 9_000))
    for (const theme of ['light', 'dark'] as const) {
      for (const size of ['desktop', 'phone'] as const) {
        const { page, complaints } = await view(browser, `${worker.console}/`, { theme, size })
        await page.getByText('heartbeat').first().waitFor()
        await page.waitForTimeout(500)
        await shoot(page, `list-${size}-${theme}`)
        await page.locator('.chip').click()
        await page.waitForTimeout(300)
        await shoot(page, `popover-${size}-${theme}`)
        await page.goto(`${worker.console}/#/schedules/${encodeURIComponent('morning brief/ada')}`)
        await page.waitForTimeout(1500)
        await page
          .screenshot({ path: `/tmp/shots/page-ada-${size}-${theme}.png`, fullPage: true })
          .catch(() => {})
        await page.goto(`${worker.console}/#/schedules/broken`)
        await page.waitForTimeout(1500)
        await page.screenshot({ path: `/tmp/shots/page-broken-${size}-${theme}.png`, fullPage: true })
        await page.goto(`${worker.console}/#/new`)
        await page.waitForTimeout(500)
        await page.getByLabel('Cron', { exact: true }).last().fill('0 25 * * *')
        await page.waitForTimeout(1200)
        await shoot(page, `new-${size}-${theme}`)
        console.log(size, theme, complaints)
      }
    }
  } finally {
    await browser.close()
    await worker.stop()
  }
}, 180_000)
