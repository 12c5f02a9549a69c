/** The Worker's own class in Node, over three simulated days: prints the ticks. Started with `--import ./alias.js`. */
import { simulateObject } from 'durability/testing'
import { Cron } from './worker.ts'

const object = simulateObject((ctx) => new Cron(ctx, {} as never))
object.world.installGlobals()
globalThis.fetch = async (_url, init) => {
  console.log('tick', new Date(Number(new Headers(init?.headers).get('at'))).toISOString())
  return new Response()
}

await object.callUntilAnswered((cron) => cron.configure('0 9 * * *', 1))
await object.advance('3 days')
