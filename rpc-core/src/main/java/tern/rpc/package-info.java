/** What users import: a call, its answer, its context, and the interface it belongs to. */
@NullMarked
package tern.rpc;

import org.jspecify.annotations.NullMarked;
