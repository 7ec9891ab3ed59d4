/** The API for applications: calls, answers, the context of a call, and the annotations of interfaces. */
@NullMarked
package tern.rpc;

import org.jspecify.annotations.NullMarked;
