import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCE = join(import.meta.dirname, '../../src')
const FOLDERS = ['core', 'experimental', 'alarms']

/** Calls that write, or whose promise or timer lets the object be cut before what follows. */
const CALLS =
  /storage\.(?:sync|getAlarm|setAlarm|deleteAlarm)\(|sql\.exec[<(]|\.refresh\(|(?<!\.)\b(?:setTimer(?!\(NEVER)|wait|waitUntil|within|replace|update|change|persist)\(|\.setTimer\(|transaction\(/
/** Where such a function is made, declared or spoken of, not called. */
const NO_CALL = /^\s*(?:\/?\*|\/\/|import |export |(?:async )?\w+(?:<\w+>)?\((?:\w+: |\w+, \w+\) \{|\) \{))/

/** The lines of the library that a crash can come between, as `file.ts:12`. */
export function cuttableLines(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(SOURCE, folder))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) =>
        readFileSync(join(SOURCE, folder, file), 'utf8')
          .split('\n')
          .flatMap((text, index) =>
            CALLS.test(text) && !NO_CALL.test(text) ? [`${file}:${index + 1}`] : [],
          ),
      ),
  )
}
