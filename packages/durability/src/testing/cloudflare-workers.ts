/**
 * Stands in for the module `cloudflare:workers` where a class is tested in Node: an alias of the test runner leads there.
 * It holds the base classes; a class that imports more is told by Node which name is missing.
 */

/** What `extends DurableObject` needs. */
export class DurableObject<Env = unknown> {
  protected readonly ctx: DurableObjectState
  protected readonly env: Env

  constructor(ctx: DurableObjectState, env: Env) {
    this.ctx = ctx
    this.env = env
  }
}

/** What `extends WorkerEntrypoint` needs, for a module that holds one beside the class that is tested. */
export class WorkerEntrypoint<Env = unknown> {
  protected readonly ctx: ExecutionContext
  protected readonly env: Env

  constructor(ctx: ExecutionContext, env: Env) {
    this.ctx = ctx
    this.env = env
  }
}

/** What `extends RpcTarget` needs. */
export class RpcTarget {}
