/** The package as published: packed, and installed into an empty project. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { ROOT, run } from './program.ts'

/** Files that `npm pack` builds and packs. */
const NEEDED = [
	...['lib', 'docs', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.page.json'],
	...['test/package', 'test/helpers', 'README.md', 'CHANGELOG.md', 'LICENSE'],
]

let tarball: Promise<string> | undefined

/** The path of the published tarball: built and packed once per process, and deleted at its end. */
export function packed(): Promise<string> {
	tarball ??= pack()
	return tarball
}

/** Packs a copy of the repository, so that its own `dist/` is unchanged. */
async function pack(): Promise<string> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-packed-'))
	process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
	const copy = join(folder, 'copy')
	mkdirSync(copy)
	for (const name of NEEDED) cpSync(`${ROOT}/${name}`, `${copy}/${name}`, { recursive: true })
	symlinkSync(`${ROOT}/node_modules`, `${copy}/node_modules`, 'dir')
	const { code, output } = await npm(copy, 'pack', '--pack-destination', folder)
	assert.is(code, 0, output)
	const [name = '', ...others] = readdirSync(folder).filter((one) => one.endsWith('.tgz'))
	assert.equal(others, [])
	return join(folder, name)
}

/** An empty project in `folder` into which the tarball is installed. */
export async function install(folder: string): Promise<string> {
	const project = join(folder, 'project')
	mkdirSync(project)
	writeFileSync(`${project}/package.json`, '{ "name": "empty", "private": true, "type": "module" }')
	const { code, output } = await npm(
		project,
		'install',
		'--offline',
		'--no-audit',
		'--no-fund',
		await packed(),
	)
	assert.is(code, 0, output)
	mkdirSync(`${project}/node_modules/@types`)
	for (const name of ['@types/node', 'undici-types']) {
		symlinkSync(`${ROOT}/node_modules/${name}`, `${project}/node_modules/${name}`, 'dir')
	}
	return project
}

/** `npm`, by the Node that runs the tests. */
export function npm(cwd: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
	return run({
		program: 'npm',
		args: [...args, '--loglevel=error'],
		cwd,
		env: { npm_config_dry_run: 'false' },
	})
}
