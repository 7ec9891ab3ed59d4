/** Java values as JSON, through the application's Jackson mapper with additional limits. Needs Jackson 3. */
@NullMarked
package tern.rpc.serialization.json;

import org.jspecify.annotations.NullMarked;
