/** Validates settings. Messages contain the property, its value, the valid values and the required change. */
@NullMarked
package tern.rpc.settings;

import org.jspecify.annotations.NullMarked;
