/** Builds the module with the page's script and style, `lib/explorer/assets.ts`, from `lib/explorer/page`. */
import { build } from 'esbuild'
import { ROOT } from '../helpers/program.ts'

const HEAD = `/**
 * The script and the style of the explorer's pages, made of \`explorer/page/\` by \`npm run explorer\`: nothing is
 * built, and no file read, when a server starts.
 */
`

/** The text of the module. */
export async function assetsModule(): Promise<string> {
	const script = await bundled('main.ts')
	const style = await bundled('style.css')
	return `${HEAD}export const PAGE_SCRIPT = ${JSON.stringify(inlined(script))}
export const PAGE_STYLE = ${JSON.stringify(inlined(style))}
`
}

async function bundled(name: string): Promise<string> {
	const { outputFiles } = await build({
		...{ entryPoints: [`${ROOT}/lib/explorer/page/${name}`], bundle: true, write: false, minify: true },
		...{ format: 'iife', platform: 'browser', target: ['es2022', 'chrome120', 'firefox121', 'safari17'] },
		...{ charset: 'utf8', legalComments: 'none', logLevel: 'silent' },
	})
	return outputFiles.map(({ text }) => text.trim()).join('')
}

/** Escapes whatever could end the surrounding element, or start a comment in a script. */
function inlined(text: string): string {
	if (/<\/(?:script|style)|<!--/i.test(text))
		throw new Error('the page holds what would end its script or style')
	return text
}
