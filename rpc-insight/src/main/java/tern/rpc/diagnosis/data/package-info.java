/**
 * Recognizes operations that transfer more data than usual: results of statements, bodies of HTTP exchanges, and
 * replies of Redis.
 */
@NullMarked
package tern.rpc.diagnosis.data;

import org.jspecify.annotations.NullMarked;
