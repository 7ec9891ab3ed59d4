package tern.rpc.netty.peer;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A service whose only declared type is {@code Object}. The interface is public and in a separate file, so that another
 * class loader can load it again.
 */
public interface OpenService {

    @Nullable
    Object take(
            @Nullable Object any, @Nullable Map<String, Object> map, ForbiddenClassesContract.@Nullable Holder holder);

    @Nullable
    Object give();
}
