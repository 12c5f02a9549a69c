import type { BenchObject, Env } from './bench-object.ts'

/** A call of one method on objects of one class, on all of them at once. */
export interface Call {
  readonly subject: string
  readonly objects: readonly string[]
  readonly method: string
  readonly argument?: unknown
}

type Bindings = Env & Readonly<Record<string, DurableObjectNamespace<BenchObject>>>

export default {
  async fetch(request, env): Promise<Response> {
    const { subject, objects, method, argument } = await request.json<Call>()
    const namespace = env[subject]
    if (!namespace) throw new Error(`There is no subject ${subject}`)
    const answers = objects.map(async (name) => {
      // The host names methods of the class.
      const object = namespace.getByName(name) as unknown as Record<string, (argument: unknown) => unknown>
      return await object[method]?.(argument)
    })
    // An object that is told to end cannot answer.
    if (method === 'end') await Promise.allSettled(answers)
    return Response.json(method === 'end' ? [] : await Promise.all(answers))
  },
} satisfies ExportedHandler<Bindings>
