/** Every statement of the SQL stores: text, and what its question marks stand for. */
export type { Statement } from './clauses.ts'
export * from './conditions.ts'
export * from './decision-statements.ts'
export * from './run-statements.ts'
export * from './schedule-statements.ts'
