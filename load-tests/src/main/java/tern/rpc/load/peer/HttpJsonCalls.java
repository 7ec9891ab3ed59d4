package tern.rpc.load.peer;

import com.google.gson.Gson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.HttpStatus;
import org.apache.hc.core5.http.ParseException;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.entity.StringEntity;
import tern.rpc.load.peer.Peer.Services;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;
import tern.sample.api.UserService;

final class HttpJsonCalls implements UserService, EchoService, WorkService {

    private final CloseableHttpClient client;
    private final String address;
    private final Gson gson = JsonText.gson();

    private HttpJsonCalls(CloseableHttpClient client, String address) {
        this.client = client;
        this.address = address;
    }

    /** @param address the server's address, such as {@code http://127.0.0.1:8080} */
    static Services over(CloseableHttpClient client, String address) {
        HttpJsonCalls calls = new HttpJsonCalls(client, address);
        return new Services(calls, calls, calls);
    }

    private <A, R> R post(JsonCall<A, R> call, A argument) {
        HttpPost request = new HttpPost(address + call.path());
        request.setEntity(
                new StringEntity(gson.toJson(argument, call.argument().getType()), ContentType.APPLICATION_JSON));
        try {
            return client.execute(request, response -> gson.fromJson(body(response), call.answer()));
        } catch (IOException e) {
            throw new UncheckedIOException("POST " + address + call.path() + " failed", e);
        }
    }

    private static String body(ClassicHttpResponse response) throws IOException, ParseException {
        String body = EntityUtils.toString(response.getEntity(), StandardCharsets.UTF_8);
        if (response.getCode() != HttpStatus.SC_OK) {
            throw new IOException("status " + response.getCode() + ": " + body);
        }
        return body;
    }

    @Override
    public boolean existUser(String email) {
        return post(JsonCall.EXIST_USER, email);
    }

    @Override
    public boolean createUser(User user) {
        return post(JsonCall.CREATE_USER, user);
    }

    @Override
    public User getUser(long id) {
        return post(JsonCall.GET_USER, id);
    }

    @Override
    public Page<User> listUser(int pageNo) {
        return post(JsonCall.LIST_USER, pageNo);
    }

    @Override
    public String echo(String text) {
        return post(JsonCall.ECHO_TEXT, text);
    }

    @Override
    public Person echo(Person person) {
        return post(JsonCall.ECHO_PERSON, person);
    }

    @Override
    public String build(int times) {
        return post(JsonCall.BUILD, times);
    }
}
