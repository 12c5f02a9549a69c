import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launch, shoot, view } from './browser.ts'

const ROOT = join(import.meta.dirname, '../../../../..')
/** Nobody should have to look for it longer. */
const MAX_CLICKS = 5

interface Demo {
  readonly address: string
  readonly token: string
  stop(): Promise<void>
}

/** `npm start`, with state of its own, on a free port, and without building under the feet of other tests. */
async function startDemo(): Promise<Demo> {
  const state = mkdtempSync(join(tmpdir(), 'durability-demo-console-'))
  const child: ChildProcess = spawn('npm', ['start', '--ignore-scripts', '--', '--persist-to', state], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  const printed = new Promise<RegExpExecArray>((resolve) => {
    if (child.stdout === null) return
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /(http:\S+\/console) in a browser; the token is (\S+)/.exec(line)
      if (found !== null) resolve(found)
    })
  })
  const [, address = '', token = ''] = await Promise.race([
    printed,
    ended.then(() => Promise.reject(new Error('npm start ended'))),
  ])
  return {
    address,
    token,
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(state, { recursive: true, force: true })
    },
  }
}

let demo: Demo
let browser: Browser

beforeAll(async () => {
  const started = await Promise.all([startDemo(), launch()])
  demo = started[0]
  browser = started[1]
})

afterAll(async () => {
  await Promise.all([demo?.stop(), browser?.close()])
})

/** A new user who has read what `npm start` printed, and is signed in; and how often they have clicked since. */
async function newUser(): Promise<{ readonly page: Page; clicks(): Promise<number> }> {
  const { page } = await view(browser, demo.address, { token: null })
  await page.getByLabel('Token').fill(demo.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'nightly' }).waitFor()
  await page.evaluate(() => {
    const counted = { clicks: 0 }
    Object.assign(globalThis, { counted })
    // What a key does to a button is a click without a place.
    addEventListener(
      'click',
      ({ detail }) => {
        if (detail > 0) counted.clicks += 1
      },
      true,
    )
  })
  const clicks = () =>
    page.evaluate(() => (globalThis as unknown as { counted: { clicks: number } }).counted.clicks)
  return { page, clicks }
}

test('a new user finds which schedule failed, and why', async () => {
  const { page, clicks } = await newUser()
  // It fails every five seconds, and is paused after three times.
  const failed = page
    .locator('.scroller .row')
    .filter({ hasText: 'The mail server refused the message' })
    .or(page.locator('.scroller .row').filter({ hasText: 'Paused after 3 failed runs' }))
  await failed.first().waitFor({ timeout: 40_000 })
  await failed.first().getByRole('link').click()
  await page.getByRole('heading', { name: 'failing' }).waitFor()
  await page
    .getByRole('region', { name: 'Runs' })
    .getByText('The mail server refused the message')
    .first()
    .waitFor()
  await shoot(page, 'demo-which-failed-and-why')
  expect(await clicks()).toBe(1)
})

test('a new user pauses a schedule', async () => {
  const { page, clicks } = await newUser()
  await page.getByRole('button', { name: 'Pause nightly' }).click()
  await page.getByRole('button', { name: 'Resume nightly' }).waitFor()
  expect(await clicks()).toBeLessThanOrEqual(MAX_CLICKS)
})

test('a new user runs a schedule now, and sees that it ran', async () => {
  const { page, clicks } = await newUser()
  await page.getByRole('button', { name: 'Run now: on-holiday' }).click()
  await page.getByText('Started on-holiday').first().waitFor()
  await page.getByRole('link', { name: 'on-holiday' }).click()
  await page.getByRole('region', { name: 'Runs' }).getByText('complete').waitFor()
  expect(await clicks()).toBeLessThanOrEqual(MAX_CLICKS)
})

test('a new user makes a schedule from a cron that was typed wrongly first', async () => {
  const { page, clicks } = await newUser()
  await page.getByRole('link', { name: 'New schedule' }).click()
  await page.getByRole('heading', { name: 'New schedule' }).waitFor()
  // From field to field by Tab, as one does while typing.
  await page.getByRole('textbox', { name: 'Id' }).click()
  await page.keyboard.type('mine')
  await page.keyboard.press('Tab')
  await page.keyboard.type('ping')
  await page.getByRole('textbox', { name: 'Cron' }).click()
  await page.keyboard.type('0 25 * * 1-5')
  await page.locator('.field.wrong').getByRole('alert').waitFor()
  await shoot(page, 'demo-cron-typed-wrongly')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('0 9 * * 1-5')
  await page.getByText('At 09:00, Monday through Friday, UTC').waitFor()
  await page.getByRole('complementary', { name: 'The next times' }).getByRole('listitem').nth(9).waitFor()
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'mine' }).waitFor()
  expect(await clicks()).toBeLessThanOrEqual(MAX_CLICKS)
})
