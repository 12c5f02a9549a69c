/**
 * What a call is rejected with whose object crashed, and what the state of an instance throws that no longer exists:
 * nothing it does can reach storage any more.
 */
export class SimulatedCrash extends Error {
  override readonly name: string = 'SimulatedCrash'
  readonly code: string = 'simulated_crash'

  constructor() {
    super('This instance of the object has crashed')
  }
}
