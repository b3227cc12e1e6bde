/** The user's own database drivers: found in their folder, or beside this package, as `npx -p verbena -p pg` puts them. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from './arguments.ts'

/** A driver's package, as it is imported. */
export interface FoundDriver<Name extends string = string> {
	readonly name: Name
	readonly module: Readonly<Record<string, unknown>>
}

/**
 * Imports the first of some packages that is installed.
 *
 * @param folder where the user is
 * @param names packages, the best first
 * @param database for the message: `PostgreSQL`
 * @param beside a file of this package
 * @throws UsageError with the command that installs the first
 */
export async function driverIn<Name extends string>(
	folder: string,
	names: readonly [Name, ...Name[]],
	database: string,
	beside: string = import.meta.url,
): Promise<FoundDriver<Name>> {
	for (const place of [join(folder, 'package.json'), beside])
		for (const name of names) {
			const { resolve } = createRequire(place)
			const file = resolved(resolve, name)
			if (file === undefined) continue
			// The package is the user's own: what it exports is checked by the model that it is given to.
			return { name, module: (await import(pathToFileURL(file).href)) as FoundDriver['module'] }
		}
	const packages = names.map((name) => name.split('/')[0])
	throw new UsageError(
		`${database} needs a driver, and there is none in ${folder}: npm install ${packages[0]}${
			packages.length > 1 ? ` (or ${packages.slice(1).join(', ')})` : ''
		}`,
	)
}

function resolved(resolve: NodeJS.RequireResolve, name: string): string | undefined {
	try {
		return resolve(name)
	} catch {
		return undefined
	}
}
