package com.example.wire;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The service of the captured calls, with the same methods as at the time of the capture. */
public interface GreetService {

    /** Returns its argument. If the argument begins with {@code att}, the answer has attachments. */
    @Nullable
    String echo(@Nullable String s);

    Person pojo(Person p);

    String checked(String s) throws BizException;

    String unchecked(String s);

    @Nullable
    String nul();

    void nothing(String s);

    void oneway(String s);

    int add(int a, int b);

    long add(long a, long b);

    @Nullable
    Object types(@Nullable Object o);

    Point record(Point p);

    Map<String, Object> map(Map<String, Object> m, List<Person> l);

    CompletableFuture<String> async(String s);

    byte[] bytes(byte[] b);

    String slow(int ms);
}
