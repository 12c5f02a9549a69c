import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TIMELINES } from './scenarios.ts'

export const PAGE: string = join(import.meta.dirname, '..', 'guides', 'schedule-policies.md')

/** The page with its pictures made anew: each stands after a comment with its name, in the next block of text. */
export async function withTimelines(page: string): Promise<string> {
  let text = page
  for (const [name, make] of Object.entries(TIMELINES)) {
    const place = new RegExp(`(<!-- timeline: ${name} -->\\n\\n\`\`\`text\\n)[\\s\\S]*?(\`\`\`\\n)`)
    if (!place.test(text)) throw new Error(`The page has no place for the timeline "${name}"`)
    const picture = await make()
    text = text.replace(place, (_, before: string, after: string) => `${before}${picture}\n${after}`)
  }
  return text
}

// `node docs/timelines/write.ts` writes the page.
if (import.meta.main) writeFileSync(PAGE, await withTimelines(readFileSync(PAGE, 'utf8')))
