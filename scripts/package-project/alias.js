/** Gives a class that `extends DurableObject` something to extend, where the runtime's own module does not exist. */
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (name, context, next) =>
    next(name === 'cloudflare:workers' ? 'durability/testing/cloudflare-workers' : name, context),
})
