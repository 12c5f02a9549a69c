export { default } from './entry.ts'
export { LibraryObject } from './library-object.ts'
export { Target } from './target.ts'
