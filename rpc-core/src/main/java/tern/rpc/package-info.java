/** The API for applications: calls, answers, call contexts, and annotations for interfaces. */
@NullMarked
package tern.rpc;

import org.jspecify.annotations.NullMarked;
