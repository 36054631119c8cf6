"""The HTTP API: authorisation, throttling, access logs, and the user pool."""

import json

from tests.infrastructure.deployed import Deployed, readable

PUBLIC = {"GET /", "GET /health", "GET /config", "GET /swagger", "GET /openapi.json"}

CONSOLE = {"GET /console", "GET /console/{proxy+}"}


def test_all_but_the_public_routes_require_a_token(prod: Deployed) -> None:
    for route in prod.all("AWS::ApiGatewayV2::Route").values():
        expected = "NONE" if route["RouteKey"] in PUBLIC | CONSOLE else "JWT"
        assert route["AuthorizationType"] == expected, route["RouteKey"]


def test_a_path_without_a_route_of_its_own_is_behind_the_authorizer(prod: Deployed) -> None:
    routes = {route["RouteKey"]: route for route in prod.all("AWS::ApiGatewayV2::Route").values()}
    assert set(routes) == PUBLIC | CONSOLE | {"ANY /{proxy+}"}
    assert "AuthorizerId" in routes["ANY /{proxy+}"]


def test_only_tokens_of_this_user_pool_and_its_clients_are_accepted(prod: Deployed) -> None:
    (authorizer,) = prod.all("AWS::ApiGatewayV2::Authorizer").values()
    configuration = authorizer["JwtConfiguration"]
    assert authorizer["AuthorizerType"] == "JWT"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
    audience = [readable(client) for client in configuration["Audience"]]
    assert audience == ["IdentityPoolClient", "IdentityPoolConsoleClient"]
    assert readable(configuration["Issuer"]) == "https://cognito-idp.AWS::Region.amazonaws.com/IdentityPool"


def test_the_api_is_throttled_and_its_requests_are_logged(prod: Deployed) -> None:
    (stage,) = prod.all("AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 200, "ThrottlingBurstLimit": 400}
    assert readable(stage["AccessLogSettings"]["DestinationArn"]) == "ApiAccessLogs.Arn"
    assert json.loads(stage["AccessLogSettings"]["Format"])["status"] == "$context.status"


def test_each_route_without_a_token_has_limits_of_its_own(prod: Deployed) -> None:
    found = prod.template["Resources"].items()
    (stage,) = [one for _, one in found if one["Type"] == "AWS::ApiGatewayV2::Stage"]
    anonymous = {
        one["Properties"]["RouteKey"]: name
        for name, one in found
        if one["Type"] == "AWS::ApiGatewayV2::Route" and one["Properties"].get("AuthorizationType") != "JWT"
    }
    limits = {"ThrottlingRateLimit": 50, "ThrottlingBurstLimit": 100}
    assert stage["Properties"]["RouteSettings"] == dict.fromkeys(anonymous, limits)
    assert len(anonymous) > 5
    assert set(anonymous.values()) <= set(stage["DependsOn"])  # API Gateway accepts settings only of routes that exist


def test_requests_reach_the_function_in_the_second_payload_format(prod: Deployed) -> None:
    integrations = prod.all("AWS::ApiGatewayV2::Integration").values()
    assert {one["PayloadFormatVersion"] for one in integrations} == {"2.0"}
    assert {readable(one["IntegrationUri"]) for one in integrations} == {"ApiFunction.Arn", "ConsoleFunction.Arn"}


def test_only_administrators_create_users(prod: Deployed) -> None:
    pool = prod.one("AWS::Cognito::UserPool", "IdentityPool")
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}


def test_passwords_are_long_and_mixed(prod: Deployed) -> None:
    policy = prod.one("AWS::Cognito::UserPool", "IdentityPool")["Policies"]["PasswordPolicy"]
    assert policy["MinimumLength"] >= 12
    for kind in ("Lowercase", "Uppercase", "Numbers", "Symbols"):
        assert policy[f"Require{kind}"] is True


def test_each_role_is_a_group_of_the_user_pool(prod: Deployed) -> None:
    groups = {group["GroupName"] for group in prod.all("AWS::Cognito::UserPoolGroup").values()}
    assert groups == {"admin", "operator", "viewer"}


def test_sign_in_with_a_plain_password_is_enabled_only_on_the_emulator(prod: Deployed, local: Deployed) -> None:
    def flows(stack: Deployed) -> set[str]:
        return set(stack.one("AWS::Cognito::UserPoolClient", "IdentityPoolClient")["ExplicitAuthFlows"])

    assert flows(prod) == {"ALLOW_USER_SRP_AUTH", "ALLOW_ADMIN_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"}
    assert flows(local) == flows(prod) | {"ALLOW_USER_PASSWORD_AUTH"}


def test_an_access_token_lives_for_15_minutes(prod: Deployed) -> None:
    for name in ("IdentityPoolClient", "IdentityPoolConsoleClient"):
        client = prod.one("AWS::Cognito::UserPoolClient", name)
        assert client["AccessTokenValidity"] == 15
        assert client["TokenValidityUnits"]["AccessToken"] == "minutes"


def test_people_sign_in_on_a_page_of_cognito_with_an_authorization_code(prod: Deployed) -> None:
    client = prod.one("AWS::Cognito::UserPoolClient", "IdentityPoolConsoleClient")
    assert client["AllowedOAuthFlows"] == ["code"]
    assert "GenerateSecret" not in client or client["GenerateSecret"] is False
    assert [readable(url) for url in client["CallbackURLs"]] == [readable(url) for url in client["LogoutURLs"]]
    assert readable(client["CallbackURLs"][0]).endswith("/console")
    (domain,) = prod.all("AWS::Cognito::UserPoolDomain").values()
    assert readable(domain["Domain"]) == "punctual-prod-AWS::AccountId"
    assert readable(prod.environment("api")["SIGN_IN_URL"]).startswith("https://punctual-prod-AWS::AccountId.auth.")


def test_the_emulator_serves_the_sign_in_page_at_its_own_address(local: Deployed) -> None:
    assert local.environment("api")["SIGN_IN_URL"] == ""
    assert not local.all("AWS::Cognito::UserPoolDomain")


def test_the_console_knows_its_path_and_the_sign_in_page(prod: Deployed, local: Deployed) -> None:
    for function in ("console", "api"):
        assert prod.environment(function)["CONSOLE_PATH"] == "/console/"
        assert readable(local.environment(function)["CONSOLE_PATH"]) == "/_aws/execute-api/ApiHttp/console/"
    assert prod.environment("console")["SIGN_IN_URL"] == prod.environment("api")["SIGN_IN_URL"]
