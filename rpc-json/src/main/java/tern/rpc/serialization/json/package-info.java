/** Java values as JSON, through the application's own Jackson mapper with limits of ours. Needs Jackson 3. */
@NullMarked
package tern.rpc.serialization.json;

import org.jspecify.annotations.NullMarked;
