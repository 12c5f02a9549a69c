/** For a member of the platform's types that this state does not have. */
export function notSimulated(member: string): Error {
  return new Error(`durability/testing does not simulate ${member}`)
}
