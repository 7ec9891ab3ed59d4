package tern.rpc.serialization.hessian;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * A service whose parameters are declared with types such as {@code Object}, so that messages can contain objects of
 * any class. The interface is public and has its own file, because a second class loader must be able to load it.
 */
public interface PlainService {
    void take(
            Object any,
            Map<String, Object> map,
            Serializable data,
            List<ForbiddenClassesTest.Holder> holders,
            ForbiddenClassesTest.Holder holder);
}
