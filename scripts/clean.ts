/** Removes the named build folders of the package it is started in, so that no file of an earlier build is shipped. */
import { rmSync } from 'node:fs'

for (const folder of process.argv.slice(2)) rmSync(folder, { recursive: true, force: true })
