/** Checks of settings, with messages that name the property, its value, what is expected and what to change. */
@NullMarked
package tern.rpc.settings;

import org.jspecify.annotations.NullMarked;
