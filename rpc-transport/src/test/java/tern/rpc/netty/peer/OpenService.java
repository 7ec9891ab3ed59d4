package tern.rpc.netty.peer;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Declares next to nothing. Public and of its own file, so that another loader can load it again. */
public interface OpenService {

    @Nullable
    Object take(
            @Nullable Object any, @Nullable Map<String, Object> map, ForbiddenClassesContract.@Nullable Holder holder);

    @Nullable
    Object give();
}
