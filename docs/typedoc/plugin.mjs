/**
 * What typedoc can't be told by its options: each module is called what users import, `verbena/client`, and says what
 * its source says of itself; types that are exported by no module are written out where they are used.
 */
import { existsSync, readFileSync } from 'node:fs'
import { Comment, Context, Converter, ReflectionKind } from 'typedoc'

/** Types of options and rules, which say nothing by their names alone. */
const WRITTEN_OUT = new Set([
	...['Kind', 'Format', 'Choice', 'Fields', 'FieldSpec', 'SchemaResult', 'SchemaIssue', 'Primitive', 'Plain'],
	...['TableOptions', 'DatabaseOptions', 'OpeningOptions', 'BigintForm', 'Columns'],
	...['IdempotencyKeys', 'Method', 'Facts', 'Moment', 'Verb'],
])

/** @param {import('typedoc').Application} app */
export function load(app) {
	const { shouldInline } = Context.prototype
	Context.prototype.shouldInline = function (symbol, name) {
		return WRITTEN_OUT.has(name) || shouldInline.call(this, symbol, name)
	}
	app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
		for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
			module.comment = new Comment([{ kind: 'text', text: beginningOf(module.name) }])
			module.name = userNameOf(module.name)
		}
	})
}

/** What users import, by the name of its source below `lib/`: `models/postgres/model` is `verbena/postgres`. */
function userNameOf(source) {
	const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
	const built = [`./dist/${source}.js`, `./dist/${source}/index.js`]
	const [subpath] = Object.entries(exports).find(([, path]) => built.includes(path))
	return subpath.replace('.', 'verbena')
}

/** The comment that the source of a module begins with. */
function beginningOf(name) {
	const lib = new URL('../../lib/', import.meta.url)
	const file = [new URL(`${name}.ts`, lib), new URL(`${name}/index.ts`, lib)].find((one) => existsSync(one))
	const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(file, 'utf8')) ?? []
	return comment.replaceAll(/^ \* ?/gm, '').trim()
}
