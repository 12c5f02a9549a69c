import { DurableObject, RpcTarget, WorkerEntrypoint } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { simulateObject } from './index.ts'

vi.mock('cloudflare:workers', () => import('./cloudflare-workers.ts'))

class Counter extends DurableObject<{ readonly step: number }> {
  count(): number {
    const next = (this.ctx.storage.kv.get<number>('count') ?? 0) + this.env.step
    this.ctx.storage.kv.put('count', next)
    return next
  }

  override async alarm(): Promise<void> {
    this.count()
  }
}

test('a class that extends DurableObject is simulated as it is, with ctx and env', async () => {
  const object = simulateObject((ctx) => new Counter(ctx, { step: 5 }))
  expect(await object.call((counter) => counter.count())).toBe(5)
  object.crash()
  expect(await object.call((counter) => counter.count())).toBe(10)
})

test('a module may hold entry points and targets of calls beside it', () => {
  class Entry extends WorkerEntrypoint<{ readonly name: string }> {
    name(): string {
      return this.env.name
    }
  }
  class Target extends RpcTarget {}
  expect(new Entry({} as ExecutionContext, { name: 'env' } as never).name()).toBe('env')
  expect(new Target()).toBeInstanceOf(RpcTarget)
})
