/** The package as it is published: packed, and installed into an empty project. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as assert from 'uvu/assert'
import { ROOT, run } from './program.ts'

/** Packs a copy of the repository, so that its own `dist/` is left alone; answers the tarball. */
export async function pack(folder: string): Promise<string> {
	const copy = join(folder, 'copy')
	mkdirSync(copy)
	for (const name of readdirSync(ROOT)) {
		if (name.startsWith('.') || ['node_modules', 'dist', 'coverage'].includes(name)) continue
		cpSync(`${ROOT}/${name}`, `${copy}/${name}`, {
			recursive: true,
			filter: (source) => basename(source) !== 'node_modules',
		})
	}
	symlinkSync(`${ROOT}/node_modules`, `${copy}/node_modules`, 'dir')
	const { code, output } = await npm(copy, 'pack', '--pack-destination', folder)
	assert.is(code, 0, output)
	const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { version: string }
	return `verbena-${version}.tgz`
}

/** An empty project into which the tarball is installed. */
export async function install(folder: string, tarball: string): Promise<string> {
	const project = join(folder, 'project')
	mkdirSync(project)
	writeFileSync(`${project}/package.json`, '{ "name": "empty", "private": true, "type": "module" }')
	const { code, output } = await npm(
		project,
		'install',
		'--offline',
		'--no-audit',
		'--no-fund',
		`../${tarball}`,
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
